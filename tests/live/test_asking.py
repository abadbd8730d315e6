"""Questions: rows whose labels are worth most."""

import numpy as np
import pytest

from rebelboost.exceptions import ProjectError
from rebelboost.live import Project
from rebelboost.live.asking import least_costs, weigh
from shops import shop_rows

UNIFORM = np.array([[0.0, 1.0], [1.0, 0.0]])


def told_by(p_z, p_x, y, w):
    """Probabilities at z if the label of x is y, and their labels are coupled with probability w."""
    both = np.minimum(p_z, p_x)
    rest = p_z - both
    rest = rest / rest.sum() if rest.sum() > 0 else rest
    alike = both[y] / p_x[y]
    return (1 - w) * p_z + w * (alike * np.eye(len(p_z))[y] + (1 - alike) * rest)


def by_definition(posterior, costs, kernel, seen, x, known=()):
    """The expected fall of the costs of decisions, term by term."""
    total = 0.0
    for z in set(range(len(posterior))) - set(known):
        w = kernel[z, x] / (1 + seen[z] + kernel[z, x])
        after = sum(
            posterior[x, y] * min(told_by(posterior[z], posterior[x], y, w) @ costs)
            for y in range(posterior.shape[1])
        )
        total += min(posterior[z] @ costs) - after
    return total


def test_a_label_that_is_not_known_yet_changes_nothing_on_average():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p_z, p_x = rng.dirichlet([1, 1, 1], 2)
        mean = sum(p_x[y] * told_by(p_z, p_x, y, 0.7) for y in range(3))
        np.testing.assert_allclose(mean, p_z, atol=1e-12)


@pytest.mark.parametrize("costs", [UNIFORM, np.array([[0.0, 7.0], [1.0, 0.0]])])
def test_the_worth_is_what_its_definition_says(costs):
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet([1, 1], 30)
    points = rng.normal(size=(30, 2))
    log_kernel = -np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    seen = rng.uniform(0.5, 3, 30)
    found = weigh(posterior, costs, log_kernel, seen, 1)
    worth = [by_definition(posterior, costs, np.exp(log_kernel), seen, x) for x in range(30)]
    assert found.places[0] == int(np.argmax(worth))
    assert found.worth[0] == pytest.approx(max(worth), rel=1e-9)


def test_knowing_a_label_is_never_expected_to_raise_costs():
    rng = np.random.default_rng(1)
    for _ in range(20):
        k = int(rng.integers(2, 5))
        posterior, costs = rng.dirichlet(np.ones(k), 20), rng.uniform(0, 9, (k, k))
        np.fill_diagonal(costs, 0)
        kernel = np.exp(-rng.uniform(0, 3, (20, 20)))
        worth = [by_definition(posterior, costs, kernel, np.ones(20), x) for x in range(20)]
        assert min(worth) >= -1e-9


def test_the_next_question_is_the_best_given_the_ones_before():
    rng = np.random.default_rng(2)
    posterior = rng.dirichlet([1, 1], 25)
    log_kernel = -rng.uniform(0, 2, (25, 25))
    log_kernel = (log_kernel + log_kernel.T) / 2
    np.fill_diagonal(log_kernel, 0)
    seen = np.ones(25)
    found = weigh(posterior, UNIFORM, log_kernel, seen, 2)
    kernel = np.exp(log_kernel)
    later = seen + kernel[:, found.places[0]]
    first = found.places[:1].tolist()
    worth = [by_definition(posterior, UNIFORM, kernel, later, x, first) for x in range(25)]
    worth[found.places[0]] = -1
    assert found.places[1] == int(np.argmax(worth))


def test_two_equal_rows_are_not_both_asked_for():
    posterior = np.array([[0.5, 0.5], [0.5, 0.5], [0.45, 0.55]])
    log_kernel = np.array([[0, 0, -9.0], [0, 0, -9.0], [-9.0, -9.0, 0]])
    found = weigh(posterior, UNIFORM, log_kernel, np.full(3, 0.2), 2)
    assert set(found.places.tolist()) in ({0, 2}, {1, 2})


def test_least_costs_are_those_of_the_best_decision():
    posterior = np.array([[[0.9, 0.1], [0.2, 0.8]]])
    np.testing.assert_allclose(least_costs(posterior, UNIFORM), [[0.1, 0.2]])


def test_questions_have_reasons_and_worth(project):
    project.add(shop_rows(40, seed=6, labelled=False))
    questions = project.ask(n=4)
    assert len(questions) == 4
    assert len(set(questions.ids)) == 4
    assert all(row.label is None for row in project.rows(questions.ids))
    assert questions[0].worth >= questions[1].worth > 0
    assert " %" in questions[0].reason
    assert "4 rows of 40 without a label" in str(questions)


def test_a_pool_need_not_be_in_the_project(project):
    pool = shop_rows(20, seed=7, labelled=False)
    questions = project.ask(pool, 3)
    assert all(1 <= number <= 20 for number in questions.ids)
    assert project.status.n_rows == 80


def test_suspect_labels_are_listed(project, rows):
    clear = [
        row.id for row, told in zip(project.rows(), rows, strict=True) if (told["size"] or 0) > 14
    ]
    project.correct(clear[0], "small")
    project.add(shop_rows(5, seed=6, labelled=False))
    questions = project.ask(n=3)
    assert str(clear[0]) in [row for row, *_ in questions.suspect]


def test_the_first_questions_differ_from_one_another(tmp_path):
    with Project.create(tmp_path / "p.rebel", shop_rows(30, labelled=False), "kind") as project:
        questions = project.ask(n=3)
        assert len(set(questions.ids)) == 3
        assert "no model yet" in questions[0].reason


def test_nothing_is_asked_where_everything_has_a_label(project):
    assert len(project.ask(n=2)) == 0
    with pytest.raises(ProjectError, match="n is 0"):
        project.ask(n=0)
