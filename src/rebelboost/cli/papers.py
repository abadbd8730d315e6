"""`rebel train --papers`: published methods by name."""

from typing import Any

from rebelboost.cli.options import TrainingOptions
from rebelboost.estimators.papers import CLASS_PAPERS, NUMBER_PAPERS, SINGLE_FIT, paper_of
from rebelboost.exceptions import TableError

OF_PAPERS = ("depth", "criterion", "search")
"""Options that only published methods have."""
WITH_ROWS = ("local", "local_sign")
"""Methods that compare cases with training rows."""


def check_papers(settings: TrainingOptions, rows: str) -> None:
    """Raise an error for options that contradict --papers; `rows` is what the file keeps of the rows."""
    name = settings.papers
    if name is None:
        for option in OF_PAPERS:
            if getattr(settings, option) is not None:
                raise ValueError(f"--{option} applies to published methods: add --papers NAME")
        return
    if name not in CLASS_PAPERS:
        raise ValueError(f"--papers is {name!r}: choose one of {', '.join(CLASS_PAPERS)}")
    if settings.learner != "auto":
        raise ValueError(
            f"--papers {name} has a learner of its own: leave out --learner {settings.learner}"
        )
    if settings.time_budget is not None:
        raise ValueError(f"--papers {name} has no time limit: use --rounds, not --time-budget")
    if rows == "none" and name in WITH_ROWS:
        raise ValueError(
            f"--papers {name} compares cases with training rows, so it needs them: use --rows ids"
        )


def check_papers_of(settings: TrainingOptions, target: str, *, numbers: bool) -> None:
    """Raise an error if the method is not published for a target of numbers."""
    if numbers and settings.papers is not None and settings.papers not in NUMBER_PAPERS:
        raise TableError(
            f"{target!r} consists of numbers, for which --papers {settings.papers} is not published: "
            f"choose {' or '.join(NUMBER_PAPERS)}, or --cut-at to divide them into two classes"
        )


def check_papers_in_memory(settings: TrainingOptions) -> None:
    """Raise an error for tables that are larger than memory."""
    if settings.papers is not None:
        raise TableError(
            f"--papers {settings.papers} needs all rows in memory: leave it out, or use fewer rows"
        )


def published_model(kind: Any, settings: TrainingOptions, given: dict[str, Any]) -> Any:
    """The estimator of --papers."""
    own = {name: getattr(settings, name) for name in OF_PAPERS}
    chosen = {name: value for name, value in {**own, **given}.items() if value is not None}
    return kind.papers(settings.papers, **chosen)


def told_of_paper(model: Any) -> list[tuple[str, str]]:
    """What a published method has set, and its citation; nothing for other models."""
    paper = paper_of(model)
    if paper is None:
        return []
    fixed = {**SINGLE_FIT, **paper.parameters}
    given = model.get_params(deep=False)
    words = ["learner", *(name for name in given if name in fixed)]
    return [
        ("published in", paper.citation),
        ("set to", ", ".join(f"{name}={given[name]!r}" for name in words)),
    ]
