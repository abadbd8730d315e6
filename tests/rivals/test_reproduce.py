"""The harness of the papers' experiments: verdicts, kept results, the page of results."""

import numpy as np
import pytest

from reproduce import fig8, harness, results
from reproduce.command import main
from reproduce.heuristics import area_over_roc, at_budget
from reproduce.splits import METHODS
from reproduce.subsets import preliminary
from rivals.stumps import Cuts


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("ours", "verdict"), [(3.2, "reached"), (3.34, "reached"), (3.36, "worse by 0.1")]
)
def test_verdicts_are_at_the_printed_digits(ours, verdict):
    assert harness.at_most("segment", 3.3, ours).verdict == verdict


def test_what_more_is_better_for_is_judged_the_other_way():
    assert harness.at_least("share", 90.0, 91.0).verdict == "reached"
    assert harness.at_least("share", 90.0, 49.5).verdict == "worse by 40.5"


@pytest.mark.parametrize(
    ("printed", "values", "ours", "verdict"),
    [
        ("26.7–30", [29.0, 31.1], "30.1 ± 1.1 (2 draws)", "worse by 0.1"),
        ("26.7–30", [29.0, 31.0], "30.0 ± 1.0 (2 draws)", "reached"),
        ("0.06–0.07", [0.074], "0.07", "reached"),
        ("8", [8.4], "8", "reached"),
    ],
)
def test_several_draws_are_judged_by_their_mean_at_the_printed_digits(
    printed, values, ours, verdict
):
    line = harness.not_above("set", printed, values)
    assert (line.ours, line.verdict) == (ours, verdict)


def test_factors_are_judged_at_the_printed_digits_too():
    verdicts = [harness.factor_of("saved", "2–8×", value).verdict for value in (1.4, 1.5, 9.0)]
    assert verdicts == ["worse", "reached", "reached"]


@pytest.fixture
def page(folder, monkeypatch):
    monkeypatch.setattr(results, "PAGE", folder / "results.md")
    return folder / "results.md"


def test_results_say_what_was_not_run(page):
    results.write_results({"fig": "A figure"})
    assert "## A figure\n\nNot run yet: `python -m benchmarks.reproduce fig`." in page.read_text()


def test_results_hold_the_lines_of_a_run_and_its_command(folder, page):
    report = harness.Report(lines=[harness.Line("glass", "27.4", "27.0", "reached")])
    about = {"command": "python -m benchmarks.reproduce fig --quick", "machine": "m"}
    harness.write("fig_quick", "A figure", report, about)
    results.write_results({"fig": "A figure"})
    text = page.read_text()
    assert "--quick`: the quick form; the full one is not run yet." in text
    assert "| glass | 27.4 | 27.0 | reached |" in text
    assert (folder / "fig_quick.csv").read_text().splitlines()[1] == "glass,27.4,27.0,reached"


def test_overview_counts_verdicts_but_not_lines_of_our_own(page):
    lines = [harness.at_most("a", 1.0, 0.5), harness.at_most("b", 1.0, 2.0)]
    lines += [harness.absent("c", "1", "no data"), harness.only_ours("d", "2")]
    harness.write("fig", "A figure", harness.Report(lines), {"command": "c", "machine": "m"})
    results.write_results({"fig": "A figure"})
    assert "| A figure | 1 | 1 | 1 |" in page.read_text()


def test_the_page_keeps_what_was_not_run_here_and_takes_parts_that_were(folder, page):
    lines = [harness.Line("a", "1", "2", "worse"), harness.Line("b", "1", "1", "reached")]
    table = harness.Table("All", ["", "x", "y"], [["ours", "3", "4"], ["theirs", "5", "6"]])
    report = harness.Report(lines, [table], notes=["A note."])
    harness.write("fig", "A figure", report, {"command": "python -m all", "machine": "m"})
    results.write_results({"fig": "A figure"})
    (folder / "fig.json").unlink()
    again = harness.Table("All", ["", "y"], [["ours", "0"]])
    part = harness.Report([harness.Line("a", "1", "1", "reached")], [again])
    harness.write("fig_part", "A figure", part, {"command": "python -m part", "machine": "m"})
    for _ in range(2):  # written twice, it stays the same
        results.write_results({"fig": "A figure"})
        text = page.read_text()
        assert "| a | 1 | 1 | reached |\n| b | 1 | 1 | reached |" in text
        assert "| ours | 3 | 0 |\n| theirs | 5 | 6 |" in text
        assert "`python -m all`\n\nSome of it again: `python -m part`\n\n|" in text
        assert "A note." in text


def test_the_page_of_results_is_what_it_reads_as():
    text = results.PAGE.read_text(encoding="utf-8")
    sections = results.read_page(text)
    assert len(sections) >= 10
    for section in sections.values():
        assert section.text() in text


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


def test_every_printed_value_of_fig_8_has_its_method():
    missing = set(fig8.PRINTED) - set(METHODS)
    assert missing == {"Struct-Boost"}
    assert {len(row) for row in fig8.PRINTED.values()} == {len(fig8.SETS)}


def test_area_over_the_roc_is_the_share_of_pairs_in_the_wrong_order():
    assert area_over_roc(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 2.0, 4.0])) == 0.25


def test_error_at_a_budget_lies_between_checkpoints():
    run = {"plain": [10.0, 20.0], "quick": [5.0, 10.0], "area": [0.4, 0.2]}
    assert at_budget(run, "plain", 15.0) == pytest.approx(0.3)
    assert at_budget(run, "quick", 15.0) == pytest.approx(0.2)


def test_preliminary_errors_are_those_of_the_heaviest_samples():
    """Three quarters of the mass are two samples, which the first feature tells apart."""
    X = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
    signs, weights = np.array([-1, 1, 1, -1.0]), np.array([3, 3, 1, 1.0])
    assert preliminary(Cuts(X), signs, weights, 0.75).tolist() == [0, 0.5]
    assert preliminary(Cuts(X), signs, weights, 1.0).tolist() == [0.25, 0.5]
