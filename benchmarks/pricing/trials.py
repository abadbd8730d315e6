"""The trials: a set, a split of it, and cost matrices, in four parts (issue 5, "Must show").

(a) REBEL Fig. 3's design: 10 planar sets × 20 random matrices.
(b) german_credit with the matrix that comes with it, over seeded splits.
(c) Sets with a taxonomy, costs being distances in it. The large ones have one trial, their
    standard split: a repeat would take minutes for every method. zoo has ten splits.
(d) Ten sets × ten random matrices, on the standard or a seeded split.
"""

import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

import data
from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.datasets import planar_mixture, random_costs

PARTS = {
    "a": "(a) 10 planar sets × 20 random matrices",
    "b": "(b) german_credit, its own matrix, 20 splits",
    "c": "(c) taxonomies",
    "d": "(d) ten sets × ten random matrices",
}
N_PLANAR, MATRICES_PLANAR = 10, 20
SPLITS_GERMAN = 20
SPLITS_TAXONOMIES = {"imclef07a": 1, "newsgroups20_lsa100": 1, "zoo": 10, "diatoms": 1}
MATRICES = 10
# Three to eleven classes, even and skewed, 214 to 6,435 rows, none of them solved.
SETS = (
    "glass",
    "vehicle",
    "vowel",
    "yeast",
    "car",
    "cmc",
    "segment",
    "steel_plates",
    "wine_quality_red",
    "landsat",
)
# The set has classes but no paths; this is the textbook's tree.
ZOO = {
    "mammal": "vertebrate/tetrapod/amniote/mammal",
    "bird": "vertebrate/tetrapod/amniote/bird",
    "reptile": "vertebrate/tetrapod/amniote/reptile",
    "amphibian": "vertebrate/tetrapod/amphibian",
    "fish": "vertebrate/fish",
    "insect": "invertebrate/insect",
    "mollusc.et.al": "invertebrate/mollusc.et.al",
}


@dataclass(frozen=True)
class Problem:
    """A split of a set, and how many cost matrices it is tried with."""

    part: str
    name: str
    split: int = 0
    n_matrices: int = 1


class Task(NamedTuple):
    """A problem with its arrays. Methods see the classes that occur in training, 0 … k−1."""

    split: data.Split
    known: np.ndarray
    """(k,) their codes among all K classes; two of the sets test on classes never seen."""
    costs: list[np.ndarray]
    """(K, K) each."""

    def matrices(self) -> list[np.ndarray]:
        """(k, k) each: what a method is told."""
        return [costs[np.ix_(self.known, self.known)] for costs in self.costs]

    def mean_costs(self, decided: list[np.ndarray]) -> list[float]:
        """On the test samples, for the decisions (codes below k) made under each matrix."""
        return [
            float(costs[self.split.y_test, self.known[choice]].mean())
            for costs, choice in zip(self.costs, decided, strict=True)
        ]


def problems(part: str, *, quick: bool) -> list[Problem]:
    if part == "a":
        n_sets, n_matrices = (2, 2) if quick else (N_PLANAR, MATRICES_PLANAR)
        return [Problem("a", "planar", seed, n_matrices) for seed in range(n_sets)]
    if part == "b":
        return [Problem("b", "german_credit", i) for i in range(2 if quick else SPLITS_GERMAN)]
    if part == "c":
        repeats = {"zoo": 2} if quick else SPLITS_TAXONOMIES
        return [Problem("c", name, i) for name, n in repeats.items() for i in range(n)]
    names = SETS[:2] if quick else SETS
    return [Problem("d", name, 0, 2 if quick else MATRICES) for name in names]


def load(problem: Problem) -> Task:
    split = _split(problem)
    known, y_train = np.unique(split.y_train, return_inverse=True)
    return Task(split._replace(y_train=y_train), known, _costs(problem, split))


def _split(problem: Problem) -> data.Split:
    if problem.part == "a":
        return data.Split(*planar_mixture(problem.split))
    if problem.part == "d" or SPLITS_TAXONOMIES.get(problem.name) == 1:
        return data.load(problem.name)
    arrays = _arrays(problem.name)
    X, y = arrays["X"].astype(np.float32), arrays["y"].astype(np.int64)
    parts = train_test_split(
        X, y, test_size=data.TEST_SHARE, stratify=y, random_state=problem.split
    )
    return data.Split(parts[0], parts[2], parts[1], parts[3])


def _costs(problem: Problem, split: data.Split) -> list[np.ndarray]:
    if problem.part == "b":
        return [_arrays(problem.name)["cost_matrix"].astype(np.float64)]
    if problem.part == "c":
        return [_taxonomic(problem.name)]
    n_classes = 1 + max(split.y_train.max(), split.y_test.max())
    first = zlib.crc32(problem.name.encode()) + 1000 * problem.split
    return [random_costs(n_classes, first + i) for i in range(problem.n_matrices)]


def _taxonomic(name: str) -> np.ndarray:
    arrays = _arrays(name)
    classes = arrays["classes"].tolist()
    paths = ZOO if name == "zoo" else dict(zip(classes, arrays["paths"].tolist(), strict=True))
    return Taxonomy(paths).matrix(classes)


def _arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(data.path(name)) as arrays:
        return dict(arrays)
