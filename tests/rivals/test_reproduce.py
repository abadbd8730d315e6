"""The harness of the papers' experiments: verdicts, quotes, kept results, the page of results."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from data import Split
from pricing.trials import Task
from reproduce import fig8, harness, quotes, results
from reproduce.command import known, main, module
from reproduce.heuristics import area_over_roc, at_budget
from reproduce.local_curves import falls
from reproduce.local_official import NETWORK, with_best_network
from reproduce.local_spirals import round_of_zero, stays_low
from reproduce.official import ARCHITECTURES
from reproduce.quotes import Quote
from reproduce.splits import METHODS, STUMPS, TREES, error, errors, three_parts
from reproduce.subsets import preliminary
from reproduce.svm import C_VALUES, GAMMAS, by_pairs
from reproduce.taxonomies import parts
from rivals.stumps import Cuts


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    return tmp_path


QUOTE = Quote("QUICK", "Sec. 6", "reduce errors on average by two-fold or more")


def test_a_line_says_what_the_text_states_and_judges_the_papers_algorithm_alone():
    line = harness.judged("errors", QUOTE, "÷ 2.1", good=True, ours="÷ 9.0")
    stated = "“reduce errors on average by two-fold or more” [QUICK, Sec. 6]"
    assert line == ("errors", stated, "÷ 2.1", "holds", "÷ 9.0")
    assert harness.judged("errors", QUOTE, "÷ 1.9", good=False).verdict == "does not hold"


def test_verdicts_are_given_by_functions_that_ask_for_a_quote():
    for path in Path(harness.__file__).parent.glob("*.py"):
        if path.name not in {"harness.py", "results.py"}:
            assert " Line(" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize(("values", "shown"), [([27.04], "27.0"), ([29.0, 31.0], "30.0 ± 1.0")])
def test_several_draws_are_shown_by_their_mean_and_deviation(values, shown):
    assert harness.several(values) == shown


# ---- quotes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exceeds 90% after only  $m \\approx 7\\%$  of", "exceeds 90% after only m ≈ 7% of"),
        ("in  $\\sim 90\\%$  of the trials", "in ∼90% of the trials"),
        ("achieves ﬁve of the diﬀerent", "five of the different"),
        ("the cost-\n\nneutral one", "the cost-neutral one"),
        ("min-\nimized", "minimized"),
        ("is *extremely* **poor**", "extremely poor"),
        ("“Quick” versions", '"Quick" versions'),
    ],
)
def test_quotes_are_found_however_they_are_typeset(text, words):
    quote = Quote("QUICK", "Sec. 5", words)
    assert quotes.missing({"it": quote}, {"QUICK": quotes.squeezed(text)}) == []


@pytest.mark.parametrize("words", ["in ∼80% of the trials", "in ∼90% of all trials"])
def test_words_that_a_text_does_not_contain_are_missing(words):
    text = quotes.squeezed("in  $\\sim 90\\%$  of the trials")
    assert quotes.missing({"it": Quote("REBEL", "Sec. 5", words)}, {"REBEL": text}) == ["it"]


def test_quotes_are_a_line_at_most():
    assert all(len(quote.words) <= 100 for quote in quotes.all_quotes().values())


def test_every_quote_is_used():
    code = "".join(p.read_text(encoding="utf-8") for p in Path(quotes.__file__).parent.glob("*.py"))
    assert [name for name in quotes.all_quotes() if f"quotes.{name}" not in code] == []


@pytest.mark.paper
def test_the_texts_contain_every_quote():
    if not quotes.seeds_folder().is_dir():
        pytest.skip("the papers' texts are absent: name their folder in REBELBOOST_SEEDS")
    assert quotes.missing(quotes.all_quotes(), quotes.read_texts(quotes.seeds_folder())) == []


def test_the_check_of_quotes_fails_without_the_texts_unless_told(tmp_path, capsys):
    assert quotes.main([str(tmp_path)]) == 1
    assert "REBELBOOST_SEEDS" in capsys.readouterr().out
    assert quotes.main([str(tmp_path), "--absent-is-fine"]) == 0


def test_the_check_of_quotes_counts_and_names_what_is_not_found(tmp_path, capsys):
    for start in quotes.DOCUMENTS.values():
        (tmp_path / f"{start}_text.txt").write_text(
            "reduce errors on average by two-\nfold or more"
        )
    assert quotes.main([str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"1 of {len(quotes.all_quotes())} quotes found")
    assert "not found: MAGNITUDE" in told
    assert "TWO_FOLD" not in told


# ---- the page


@pytest.fixture
def page(folder, monkeypatch):
    monkeypatch.setattr(results, "PAGE", folder / "results.md")
    return folder / "results.md"


def test_results_say_what_was_not_run(page):
    results.write_results({"fig": "A figure"})
    assert "## A figure\n\nNot run yet: `python -m benchmarks.reproduce fig`." in page.read_text()


def test_results_hold_the_lines_of_a_run_and_its_command(folder, page):
    report = harness.Report(lines=[harness.judged("glass", QUOTE, "27.0", good=True)])
    about = {"command": "python -m benchmarks.reproduce fig --quick", "machine": "m"}
    harness.write("fig_quick", "A figure", report, about)
    results.write_results({"fig": "A figure"})
    text = page.read_text()
    assert "--quick` (m): the quick form; the full one is not run yet." in text
    assert f"| glass | {QUOTE} | 27.0 | holds | – |" in text
    kept = (folder / "fig_quick.csv").read_text().splitlines()[1]
    assert kept == f'glass,"{QUOTE}",27.0,holds,–'


def test_overview_counts_verdicts(page):
    lines = [harness.judged(what, QUOTE, "1", good=what == "a") for what in "ab"]
    lines += [harness.absent("c", QUOTE, "no data")]
    harness.write("fig", "A figure", harness.Report(lines), {"command": "c", "machine": "m"})
    results.write_results({"fig": "A figure"})
    assert "| A figure | 1 | 1 | 1 |" in page.read_text()


def test_the_page_keeps_what_was_not_run_here_and_takes_parts_that_were(folder, page):
    lines = [harness.judged(what, QUOTE, "1", good=what == "b") for what in "ab"]
    table = harness.Table("All", ["", "x", "y"], [["ours", "3", "4"], ["theirs", "5", "6"]])
    report = harness.Report(lines, [table], notes=["A note."])
    harness.write("fig", "A figure", report, {"command": "python -m all", "machine": "m"})
    results.write_results({"fig": "A figure"})
    (folder / "fig.json").unlink()
    again = harness.Table("All", ["", "y"], [["ours", "0"]])
    part = harness.Report([harness.judged("a", QUOTE, "1", good=True)], [again])
    harness.write("fig_part", "A figure", part, {"command": "python -m part", "machine": "m"})
    for _ in range(2):  # written twice, it stays the same
        results.write_results({"fig": "A figure"})
        text = page.read_text()
        assert f"| a | {QUOTE} | 1 | holds | – |\n| b | {QUOTE} | 1 | holds | – |" in text
        assert "| ours | 3 | 0 |\n| theirs | 5 | 6 |" in text
        assert "`python -m all` (m)\n\nSome of it again: `python -m part` (m)\n\n|" in text
        assert "A note." in text


@pytest.mark.usefixtures("folder")
def test_a_part_alone_is_shown_as_a_part(page):
    lines = [harness.judged(what, QUOTE, "1", good=True) for what in ("a", "sets that have it")]
    part = harness.Report(lines)
    harness.write("fig_part", "A figure", part, {"command": "python -m part", "machine": "m"})
    for _ in range(2):
        results.write_results({"fig": "A figure"})
        assert "| A figure | 1 | 0 | 1 |" in page.read_text()  # no verdict about all sets
        assert f"## A figure\n\n`python -m part` (m){results.PARTLY}\n\n|" in page.read_text()


def test_a_section_with_other_columns_is_not_kept(page):
    old = "| | printed | ours | verdict |\n| --- | --: | --: | --: |\n| a | 1.5 | 1.4 | reached |"
    page.write_text(f"# Results\n\n## A figure\n\n`python -m fig`\n\n{old}\n", encoding="utf-8")
    results.write_results({"fig": "A figure"})
    assert "1.5" not in page.read_text()


def test_the_page_of_results_is_what_it_reads_as():
    text = results.PAGE.read_text(encoding="utf-8")
    for section in results.read_page(text).values():
        assert section.text() in text


def test_the_page_of_results_has_a_section_for_each_experiment():
    titles = re.findall(r"^## (.*)$", results.PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(titles) == sorted(module(name).TITLE for name in known())


def test_every_statement_on_the_page_of_results_is_a_quote():
    known_quotes = {str(quote) for quote in quotes.all_quotes().values()}
    sections = results.read_page(results.PAGE.read_text(encoding="utf-8")).values()
    assert {line.stated for section in sections for line in section.lines} <= known_quotes


def square(x):
    return x * x


def test_units_are_measured_once(folder, monkeypatch):
    kept = harness._unit_file(square, (3,), "code")
    kept.parent.mkdir()
    kept.write_text("10")  # not what would be measured
    assert harness.measure_all(square, [(3,)], "code") == {(3,): 10}
    assert not harness._unit_file(square, (3,), "other code").exists()


def test_experiments_are_listed(capsys):
    assert main(["--list"]) == 0
    assert "local_fig8" in capsys.readouterr().out


def test_absent_data_is_named_and_the_next_goes_on(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("REBELBOOST_DATA", str(tmp_path))
    assert main(["ada_bound", "local_official", "--quick"]) == 1
    told = capsys.readouterr().out
    assert "ada_bound: not run" in told
    assert "local_official: not run" in told
    assert "heart_cleveland.npz is absent" in told


def test_unknown_experiments_are_named(capsys):
    with pytest.raises(SystemExit):
        main(["fig_99"])
    assert "fig_99" in capsys.readouterr().err


def test_every_method_of_fig_8_can_be_run():
    assert set(fig8.SHOWN) - set(METHODS) == {TREES}


def test_the_depth_of_trees_is_chosen_by_the_validation_part(monkeypatch):
    def kept(function, units, made_by=None):
        validation = {
            STUMPS: 3.0,
            "REBEL, depth 2": 1.0,
            "REBEL, depth 3": 2.0,
            "REBEL, depth 4": 2.0,
        }
        return {
            unit: {"validation": validation[unit[1]], "error": 10 + validation[unit[1]]}
            for unit in units
        }

    monkeypatch.setattr("reproduce.splits.measure_all", kept)
    assert errors(["vowel"], [STUMPS, TREES], 2) == {
        STUMPS: {"vowel": [13.0, 13.0]},
        TREES: {"vowel": [11.0, 11.0]},
    }


def test_rounds_are_chosen_by_the_validation_part_and_judged_by_the_test_part(monkeypatch):
    class Staged:
        def fit(self, X, y):
            return self

        def staged_predict(self, X):  # the validation part has 25 rows like the test part
            yield from (np.zeros(len(X)), np.ones(len(X)), np.zeros(len(X)))

    y = np.tile([0, 1, 1, 1], 25)
    monkeypatch.setattr("reproduce.splits.pooled", lambda name: (np.zeros((100, 1)), y))
    monkeypatch.setitem(METHODS, "staged", Staged)
    found = error("set", "staged", 0)
    _, validation, test = three_parts(np.zeros((100, 1)), y, 0)
    assert found["rounds"] == 2
    assert found["validation"] == 100 * np.mean(validation[1] != 1)
    assert found["error"] == 100 * np.mean(test[1] != 1)
    assert found["error, all rounds"] == 100 * np.mean(test[1] != 0)


def test_the_network_that_is_shown_has_the_least_test_error():
    draws = {name: [(float(i), 1.0 + i)] for i, name in enumerate(ARCHITECTURES, 1)}
    draws["LOCAL"] = [(0.5, 9.0)]
    assert with_best_network(draws) == {"LOCAL": [(0.5, 9.0)], NETWORK: [(1.0, 2.0)]}


@pytest.mark.parametrize("gamma", [1e-5, 1e-3, 0.1])
def test_an_svm_solved_by_pairs_of_classes_predicts_what_scikit_learns_own_does(gamma):
    X, y = load_digits(return_X_y=True)
    y = 3 * y - 4  # labels need not be positions
    split = Split(X[:600], y[:600], X[600:], y[600:])
    found = by_pairs(split, gamma, C_VALUES)
    for C, predicted in zip(C_VALUES, found, strict=True):
        own = SVC(C=C, gamma=gamma).fit(split.X_train, split.y_train)
        assert np.array_equal(predicted, own.predict(split.X_test))


def test_networks_have_the_architectures_of_the_text():
    sizes = [layers(10, 3) for layers in ARCHITECTURES.values()]
    assert sizes == [(40,), (12,), (20, 10), (12, 6)]


def test_the_svm_has_a_grid_of_five_by_six():
    assert (len(C_VALUES), len(GAMMAS)) == (5, 6)


def test_rounds_until_no_error_count_from_one_and_go_past_the_end():
    assert round_of_zero({"train": [2.0, 0.0, 0.0]}) == 2
    assert round_of_zero({"train": [2.0, 1.0]}) == 3


def test_a_test_error_stays_low_within_one_standard_error():
    assert stays_low({"test": [3.0, 0.0, 0.5]})  # one of 167 points is 0.6 %
    assert not stays_low({"test": [3.0, 0.0, 1.3]})


def test_the_fall_of_the_loss_is_counted_a_round_before_and_after_the_first_tenth():
    log_loss = [0.0, -2.0, *(-2.0 - i / 6 for i in range(1, 19))]  # 20 rounds
    first, rest = falls(log_loss)
    assert (first, rest) == (2.0, pytest.approx(1 / 6))


def test_every_class_of_a_taxonomy_is_trained_on():
    y = np.repeat(np.arange(30), 2)
    X = np.arange(60.0)[:, np.newaxis]
    given = parts(Task(Split(X, y, X, y), np.arange(30), []), seed=0)
    assert set(given.y) == set(range(30))
    assert sorted([*given.X[:, 0], *given.X_valid[:, 0]]) == X[:, 0].tolist()


def test_area_over_the_roc_is_the_share_of_pairs_in_the_wrong_order():
    assert area_over_roc(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 2.0, 4.0])) == 0.25


def test_error_at_a_budget_lies_between_checkpoints():
    run = {"visits": [10.0, 20.0], "area": [0.4, 0.2]}
    assert at_budget(run, 15.0) == pytest.approx(0.3)
    assert at_budget(run, 25.0) == 0.2


def test_preliminary_errors_are_those_of_the_heaviest_samples():
    """Three quarters of the mass are two samples, which the first feature tells apart."""
    X = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
    signs, weights = np.array([-1, 1, 1, -1.0]), np.array([3, 3, 1, 1.0])
    assert preliminary(Cuts(X), signs, weights, 0.75).tolist() == [0, 0.5]
    assert preliminary(Cuts(X), signs, weights, 1.0).tolist() == [0.25, 0.5]
