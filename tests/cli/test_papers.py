"""`rebel train --papers`: published methods by name."""

import pytest

from rebelboost import load
from rebelboost.estimators.papers import CLASS_PAPERS, NUMBER_PAPERS

TRAIN = ("train", "loans.csv", "--target", "repaid", "--rounds", 6)


@pytest.mark.parametrize("name", CLASS_PAPERS)
def test_it_trains_the_method_and_says_what_is_set(name, loans, rebel):
    done = rebel(*TRAIN, "--papers", name)
    assert done.exit_code == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert CLASS_PAPERS[name].citation in flat
    assert "cross_fit=None" in flat
    clf = load(loans.with_name("loans.safetensors"))
    assert clf.citation_ == CLASS_PAPERS[name].citation
    assert clf.metadata_["command"].endswith(f"--papers {name}")


def test_options_of_the_method(loans, rebel, records):
    chosen = (
        "--papers",
        "quickboost",
        "--depth",
        2,
        "--criterion",
        "gini",
        "--search",
        "exhaustive",
    )
    _, model = records(*TRAIN, *chosen)
    assert model["published_in"] == CLASS_PAPERS["quickboost"].citation
    learner = load(loans.with_name("loans.safetensors")).learner
    assert (learner.depth, learner.criterion, learner.search) == (2, "gini", "exhaustive")


def test_costs_are_trained_on(loans, costs, rebel):
    done = rebel(*TRAIN, "--papers", "rebel", "--costs", "costs.csv")
    assert done.exit_code == 0, done.stderr
    clf = load(loans.with_name("loans.safetensors"))
    assert clf.training == "costs"
    assert clf.decision == "argmax"


def test_numbers(loans, rebel):
    done = rebel(
        "train", "loans.csv", "--target", "amount", "--rounds", 6, "--papers", "quickboost"
    )
    assert done.exit_code == 0, done.stderr
    assert NUMBER_PAPERS["quickboost"].citation in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--papers", "ada"), "choose one of local, local_sign"),
        (("--papers", "rebel", "--learner", "tree"), "leave out --learner tree"),
        (("--papers", "rebel", "--time-budget", 3), "use --rounds, not --time-budget"),
        (("--papers", "local", "--rows", "none"), "use --rows ids"),
        (("--papers", "local", "--depth", 2), "does not apply to similarities"),
        (("--papers", "rebel", "--criterion", "gini"), "no option 'criterion'"),
        (("--depth", 2), "add --papers NAME"),
    ],
)
def test_what_does_not_go_together_is_refused(words, message, loans, rebel):
    done = rebel(*TRAIN, *words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_methods_of_classes_are_refused_for_numbers(loans, rebel):
    done = rebel("train", "loans.csv", "--target", "amount", "--papers", "adaboost")
    assert done.exit_code == 2
    assert "is not published" in done.stderr
