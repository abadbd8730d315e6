"""What the service says of rows, as plain JSON data."""

from typing import Any, NamedTuple

from rebelboost.base.arrays import ByClass, Floats
from rebelboost.base.findings import as_json
from rebelboost.base.names import plain, printed
from rebelboost.costs.decision import expected_costs
from rebelboost.explain.explain import Naming, explain_samples
from rebelboost.model.fitted import FittedClassifier

ONE_BY_ONE = 8
"""Fewer rows than this are scored one by one, which is faster."""


class Answer(NamedTuple):
    """One entry for each row, and notes on cells that count as missing."""

    each: list[dict[str, Any]]
    notes: list[str]


class Service:
    """A loaded model and its predictor. It changes nothing and opens no file, so threads may share it."""

    def __init__(self, estimator: Any) -> None:
        self.model = estimator.model_
        self.predictor = estimator.predictor()
        self.reader = self.predictor.reader
        self.names = tuple(map(printed, self.model.class_names or ()))
        self._metadata = dict(estimator.metadata_)

    @property
    def predicts_numbers(self) -> bool:
        """Whether the model is a regression."""
        return not isinstance(self.model, FittedClassifier)

    def predict(self, rows: list[Any]) -> Answer:
        """The decision, the probabilities and the expected costs for each row."""
        values, notes = self._read(rows)
        if self.predicts_numbers:
            return Answer(
                [{"prediction": y} for y in self.predictor.predict(values).tolist()], notes
            )
        if len(rows) < ONE_BY_ONE:
            return Answer([self._told(*self.predictor.judge(x)) for x in values], notes)
        scores = self.model.ensemble.scores(values)
        costs = self.model.costs_of(values)
        posterior = self.model.posterior(scores)
        risks = expected_costs(posterior, costs)
        decided = self.model.labels(scores, costs)
        told = list(map(self._told, decided, posterior, risks))
        return Answer(told, notes)

    def explain(self, rows: list[Any], top: int) -> Answer:
        """The same with reasons: sentences and tables, as `rebel explain --json` prints them."""
        values, notes = self._read(rows)
        naming = Naming(metadata=self._metadata)
        whys = explain_samples(self.model, values, top=top, naming=naming)
        said = self.predict(rows).each
        told = [each | as_json(why.document()) for each, why in zip(said, whys, strict=True)]
        return Answer(told, notes)

    def _told(self, label: Any, posterior: ByClass, risks: ByClass) -> dict[str, Any]:
        return {
            "decision": plain(label),
            "probabilities": dict(zip(self.names, posterior.tolist(), strict=True)),
            "expected_costs": dict(zip(self.names, risks.tolist(), strict=True)),
        }

    def _read(self, rows: list[Any]) -> tuple[Floats, list[str]]:
        values = self.reader(rows)
        return values, list(map(str, self.reader.notes(rows, values)))
