"""Taxonomies: distances on a tree worked out by hand, the forms a tree may have, errors."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from rebelboost import RebelClassifier
from rebelboost.costs.matrix import cost_matrix
from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.exceptions import CostError

# animal ─┬─ mammal ─┬─ dog
#         │          └─ cat
#         ├─ fish ───── bony ─── trout
#         └─ worm
CLASSES = ["cat", "dog", "trout", "worm"]
PATHS = {
    "dog": "animal/mammal/dog",
    "cat": "animal/mammal/cat",
    "trout": "animal/fish/bony/trout",
    "worm": "animal/worm",
}
BY_HAND = {
    "path": [[0, 2, 5, 3], [2, 0, 5, 3], [5, 5, 0, 4], [3, 3, 4, 0]],
    # mammal has height 1, animal 3 (down to the trout).
    "height": [[0, 1, 3, 3], [1, 0, 3, 3], [3, 3, 0, 3], [3, 3, 3, 0]],
}
FORMS = {
    "paths": lambda d: Taxonomy(PATHS, distance=d),
    "paths in order": lambda d: Taxonomy([PATHS[c] for c in CLASSES], distance=d),
    "an array of paths": lambda d: Taxonomy(np.array([PATHS[c] for c in CLASSES]), distance=d),
    "steps": lambda d: Taxonomy({c: p.split("/") for c, p in PATHS.items()}, distance=d),
}


@pytest.mark.parametrize("distance", BY_HAND)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_distances_worked_out_by_hand(form, distance):
    costs = FORMS[form](distance).matrix(CLASSES)
    by_hand = np.array(BY_HAND[distance])
    np.testing.assert_allclose(costs, by_hand * (12 / by_hand.sum()), rtol=1e-15)


@pytest.mark.parametrize("distance", BY_HAND)
def test_a_class_may_stand_above_others(distance):
    tree = Taxonomy({"genus": "g", "one": "g/1", "two": "g/2", "far": "h"}, distance=distance)
    by_hand = {
        "path": [[0, 1, 1, 2], [1, 0, 2, 3], [1, 2, 0, 3], [2, 3, 3, 0]],
        "height": [[0, 1, 1, 2], [1, 0, 1, 2], [1, 1, 0, 2], [2, 2, 2, 0]],
    }[distance]
    costs = tree.matrix(["genus", "one", "two", "far"])
    np.testing.assert_allclose(costs, np.array(by_hand) * (12 / np.sum(by_hand)), rtol=1e-15)


@st.composite
def taxonomies(draw):
    """2 to 8 places, some above others, and both distances."""
    step = st.sampled_from("abc")
    place = st.lists(step, min_size=1, max_size=4).map("/".join)
    places = draw(st.lists(place, min_size=2, max_size=8, unique=True))
    return Taxonomy(dict(enumerate(places)), distance=draw(st.sampled_from(list(BY_HAND))))


@given(taxonomies())
def test_guessing_at_random_costs_what_it_costs_with_uniform_costs(tree):
    n = len(tree.paths)
    costs = tree.matrix(range(n))
    # n (n − 1) terms, each off by half a unit in its last place at most.
    np.testing.assert_allclose(costs.sum() / (n * (n - 1)), 1, rtol=1e-14)


@given(taxonomies())
def test_costs_are_distances(tree):
    n = len(tree.paths)
    costs = tree.matrix(range(n))
    np.testing.assert_array_equal(costs, costs.T)
    assert not costs.diagonal().any()
    assert (costs[~np.eye(n, dtype=bool)] > 0).all()
    around = costs[:, :, np.newaxis] + costs[np.newaxis]
    assert (costs[:, np.newaxis] <= around.transpose(0, 2, 1) + 1e-12).all()


@given(taxonomies(), st.data())
def test_permuting_the_classes_permutes_the_costs(tree, data):
    order = data.draw(st.permutations(range(len(tree.paths))))
    straight = tree.matrix(range(len(order)))
    np.testing.assert_array_equal(tree.matrix(order), straight[np.ix_(order, order)])


def test_a_flat_taxonomy_is_uniform():
    for distance in BY_HAND:
        costs = Taxonomy({"a": "x/a", "b": "x/b", "c": "x/c"}, distance=distance).matrix("abc")
        np.testing.assert_array_equal(costs, 1 - np.eye(3))


def test_classes_that_the_data_lack_do_no_harm():
    costs = Taxonomy(PATHS).matrix(["cat", "dog", "worm"])
    np.testing.assert_allclose(costs, np.array([[0, 2, 3], [2, 0, 3], [3, 3, 0]]) * 6 / 16)
    assert Taxonomy(PATHS).matrix(["dog"]).tolist() == [[0]]


def test_names_are_found_whether_they_are_text_or_numbers():
    tree = Taxonomy({"1": "a/1", "2": "a/2", "3": "b/3"})
    expected = tree.matrix(["1", "2", "3"])
    np.testing.assert_array_equal(tree.matrix(np.array([1, 2, 3])), expected)
    np.testing.assert_array_equal(tree.matrix([1.0, 2.0, 3.0]), expected)


def test_separators_may_be_other_ones_and_stand_at_the_ends():
    expected = Taxonomy(PATHS).matrix(CLASSES)
    arrows = {name: path.replace("/", " > ") for name, path in PATHS.items()}
    np.testing.assert_array_equal(Taxonomy(arrows, separator=">").matrix(CLASSES), expected)
    slashes = {name: f"/{path}/" for name, path in PATHS.items()}
    np.testing.assert_array_equal(Taxonomy(slashes).matrix(CLASSES), expected)


def test_a_taxonomy_serves_as_costs():
    tree = Taxonomy(PATHS)
    np.testing.assert_array_equal(cost_matrix(tree, CLASSES), tree.matrix(CLASSES))


def test_a_taxonomy_is_frozen_and_can_be_copied_pickled_and_cloned():
    tree = Taxonomy(PATHS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.distance = "height"
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert clone(RebelClassifier(costs=tree)).costs == tree
    assert dataclasses.replace(tree, distance="height") == Taxonomy(PATHS, distance="height")


def test_its_repr_shows_some_paths_and_the_distance():
    assert repr(Taxonomy({"a": "x/a", "b": "y/b"})) == (
        "Taxonomy({'a': 'x/a', 'b': 'y/b'}, distance='path')"
    )
    assert repr(Taxonomy(["x/a", "y/b"])) == "Taxonomy(['x/a', 'y/b'], distance='path')"
    assert repr(Taxonomy(PATHS, distance="height")) == (
        "Taxonomy({'dog': 'animal/mammal/dog', 'cat': 'animal/mammal/cat', "
        "'trout': 'animal/fish/bony/trout', … 4 in total}, distance='height')"
    )


REFUSED = {
    "distance": (
        lambda: Taxonomy(PATHS, distance="steps"),
        r"the distance of a taxonomy is 'steps': use one of path, height",
    ),
    "separator": (lambda: Taxonomy(PATHS, separator=""), r"the separator of a taxonomy is empty"),
    "text": (lambda: Taxonomy("a/b"), r"the taxonomy is the text 'a/b': give \{class: path"),
    "empty": (lambda: Taxonomy({}), r"the taxonomy is empty: give \{class: path"),
    "no path": (
        lambda: Taxonomy({"a": 3}),
        r"has the path 3: give text, 'animal/mammal', or a seq",
    ),
    "empty path": (lambda: Taxonomy({"a": ""}), r"has the path '', which contains an empty step"),
    "empty step": (
        lambda: Taxonomy({"a": "x//a"}),
        r"has the path 'x//a', which contains an empty step: write 'animal/mammal'",
    ),
    "no steps": (lambda: Taxonomy({"a": []}), r"has the path \[\], which contains an empty step"),
    "one place": (
        lambda: Taxonomy({"dog": "mammal", "fish": "fish", "cat": "mammal"}),
        r"'dog' and 'cat' both have the path mammal, .* cost nothing: add a step, as in 'mammal/cat', or",
    ),
    "one place in order": (
        lambda: Taxonomy(["a/b", "a/b"]),
        r"'a/b' and 'a/b' both have the path a/b",
    ),
    "unknown class": (
        lambda: Taxonomy(PATHS).matrix(["cat", "cow"]),
        r"no path for class 'cow': add it \(it has paths for dog, cat, trout, worm\)",
    ),
    "too few paths": (
        lambda: Taxonomy(["a/b", "a/c"]).matrix([0, 1, 2]),
        r"has 2 paths, but there are 3 classes \(0, 1, 2\): give a path for each of them, in this",
    ),
    "paths out of order": (
        lambda: Taxonomy(["m/dog", "m/cat", "f/trout"]).matrix(["cat", "dog", "trout"]),
        r"m/dog is at the position of class 'cat': .* order .*\(cat, dog, trout\), or \{class",
    ),
}


@pytest.mark.parametrize(("build", "message"), REFUSED.values(), ids=REFUSED)
def test_a_taxonomy_that_cannot_be_meant_is_refused(build, message):
    with pytest.raises(CostError, match=message):
        build()


def test_codes_may_look_like_steps_of_their_paths():
    costs = Taxonomy(["1/1", "1/0", "0/1"]).matrix([0, 1, 2])
    np.testing.assert_allclose(costs, np.array([[0, 2, 4], [2, 0, 4], [4, 4, 0]]) * 6 / 20)
