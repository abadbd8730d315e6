"""Costs from a tree of classes: the farther apart two classes are, the more a mistake costs."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints
from rebelboost.base.names import ClassNames, listed, plain, printed, shown
from rebelboost.exceptions import CostError

DISTANCES = ("path", "height")

Place = tuple[Any, ...]
"""The nodes on the path from the root to a node, including itself."""


@dataclass(frozen=True, repr=False)
class Taxonomy:
    """Costs from a tree of classes: mistakes between distant classes cost more.

    Parameters
    ----------
    paths : dict or sequence
        ``{class: "animal/mammal/dog"}``, the path from the root to each class; or the paths alone,
        one for each class in sorted order. A path can also be a sequence of steps. Two classes must
        not have the same path, because mistakes between them would cost nothing. A class may be an
        inner node, above other classes. Classes that do not occur in the data are allowed.
    distance : {"path", "height"}, default="path"
        "path": number of edges between the two classes. "height": height of their lowest common
        ancestor, that is the length of the longest path from it down to a leaf.
    separator : str, default="/"
        Text between the steps of a path.

    Notes
    -----
    Distances are divided by their mean over all pairs of different classes. Random guessing then
    costs as much as with a cost of 1 for every mistake.

    Examples
    --------
    >>> zoo = Taxonomy({"dog": "mammal/dog", "cat": "mammal/cat", "trout": "fish/trout"})
    >>> zoo.matrix(["cat", "dog", "trout"])
    array([[0. , 0.6, 1.2],
           [0.6, 0. , 1.2],
           [1.2, 1.2, 0. ]])
    """

    paths: Mapping[Any, Any] | Sequence[Any] | NDArray[Any]
    distance: str = field(default="path", kw_only=True)
    separator: InitVar[str] = field(default="/", kw_only=True)

    def __post_init__(self, separator: str) -> None:
        if self.distance not in DISTANCES:
            raise CostError(
                f"the distance of a taxonomy is {self.distance!r}: use one of {listed(DISTANCES)}"
            )
        if not separator:
            raise CostError("the separator of a taxonomy is empty: give the text between two steps")
        given: Any = self.paths
        if isinstance(given, str):
            raise CostError(f"the taxonomy is the text {given!r}: give {{class: path, ...}}")
        taken = tuple(
            _place(path, separator)
            for path in (given.values() if isinstance(given, Mapping) else given)
        )
        if not taken:
            raise CostError("the taxonomy is empty: give {class: path, ...}")
        names = list(map(plain, given)) if isinstance(given, Mapping) else list(map(_joined, taken))
        _check_apart(names, taken)
        named = dict(zip(names, taken, strict=True)) if isinstance(given, Mapping) else taken
        object.__setattr__(self, "paths", named)

    def matrix(self, classes: Sequence[Any]) -> Floats:
        """(K, K) costs between `classes`. Off the diagonal, their mean is 1.

        Parameters
        ----------
        classes : sequence
            Classes, in the order of the rows and columns of the result.

        Returns
        -------
        ndarray of shape (K, K)
            ``costs[true, decided]``.
        """
        places = self._places(ClassNames(classes))
        distances = self._distances(places)
        np.fill_diagonal(distances, 0)
        pairs = len(classes) * (len(classes) - 1)
        return distances * (pairs / distances.sum()) if pairs else distances

    def _places(self, names: ClassNames) -> list[Place]:
        if isinstance(self.paths, Mapping):
            known = ClassNames(self.paths)
            places = list(self.paths.values())
            return [places[_found(name, known)] for name in names.classes]
        if len(self.paths) != len(names):
            raise CostError(
                f"the taxonomy has {len(self.paths)} paths, but there are {len(names)} classes "
                f"({names}): give a path for each of them, in this order, or {{class: path}}"
            )
        last = [names.find(place[-1]) for place in self.paths]
        order = list(range(len(names)))
        if set(last) == set(order) and last != order:
            first = next(i for i in order if last[i] != i)
            raise CostError(
                f"the path {_joined(self.paths[first])} is at the position of class "
                f"{shown(names.classes[first])}: give the paths in the order of the "
                f"classes ({names}), or {{class: path}}"
            )
        return list(self.paths)

    def _distances(self, places: list[Place]) -> Floats:
        everywhere = self.paths.values() if isinstance(self.paths, Mapping) else self.paths
        heights = _heights(everywhere)
        nodes = {node: i for i, node in enumerate(heights)}
        height = np.array(list(heights.values()), dtype=np.float64)
        common = np.zeros((len(places), len(places)))
        ancestor = np.full(common.shape, height[nodes[()]])
        for level in _levels(places, nodes).T:
            same = (level[:, np.newaxis] == level) & (level >= 0)
            common += same
            ancestor = np.where(same, height[level], ancestor)
        if self.distance == "height":
            return ancestor
        depth = np.array([float(len(place)) for place in places])
        distances: Floats = depth[:, np.newaxis] + depth - 2 * common
        return distances

    def __repr__(self) -> str:
        most = 3
        if isinstance(self.paths, Mapping):
            items = [f"{shown(name)}: {_joined(p)!r}" for name, p in self.paths.items()]
            brackets = "{}"
        else:
            items, brackets = [repr(_joined(place)) for place in self.paths], "[]"
        more = f", … {len(items)} in total" if len(items) > most else ""
        inside = ", ".join(items[:most]) + more
        return f"Taxonomy({brackets[0]}{inside}{brackets[1]}, distance={self.distance!r})"


def _place(path: Any, separator: str) -> Place:
    steps = path
    if isinstance(path, str):
        inside = path.removeprefix(separator).removesuffix(separator)
        steps = [step.strip() for step in inside.split(separator)]
    if not isinstance(steps, list | tuple):
        raise CostError(
            f"the taxonomy has the path {shown(path)}: give text, 'animal{separator}mammal', "
            "or a sequence of steps"
        )
    if not steps or "" in steps:
        raise CostError(
            f"the taxonomy has the path {path!r}, which contains an empty step: "
            f"write 'animal{separator}mammal'"
        )
    return tuple(map(plain, steps))


def _joined(place: Place) -> str:
    return "/".join(map(printed, place))


def _check_apart(names: Sequence[Any], places: Sequence[Place]) -> None:
    first: dict[Place, Any] = {}
    for name, place in zip(names, places, strict=True):
        if place in first:
            raise CostError(
                f"{shown(first[place])} and {shown(name)} both have the path {_joined(place)}, so "
                "mistakes between them would cost nothing: add a step, as in "
                f"'{_joined(place)}/{printed(name)}', or merge the classes"
            )
        first[place] = name


def _found(name: Any, known: ClassNames) -> int:
    code = known.find(name)
    if code is None:
        raise CostError(
            f"the taxonomy has no path for class {shown(name)}: add it (it has paths for {known})"
        )
    return code


def _heights(places: Any) -> dict[Place, int]:
    """Every node of the tree, and the length of the longest path from it down to a leaf."""
    heights: dict[Place, int] = {}
    for place in places:
        for up in range(len(place) + 1):
            node = place[: len(place) - up]
            heights[node] = max(up, heights.get(node, 0))
    return heights


def _levels(places: list[Place], nodes: dict[Place, int]) -> Ints:
    """(K, levels) the nodes on the path to each class, −1 below it."""
    levels = np.full((len(places), max(map(len, places), default=0)), -1, dtype=np.int64)
    for row, place in zip(levels, places, strict=True):
        row[: len(place)] = [nodes[place[: i + 1]] for i in range(len(place))]
    return levels
