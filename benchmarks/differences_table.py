"""The tables of `differences.py`, from its figures."""

from typing import Any

import numpy as np

import measuring

DEFAULT, AS_PAPERS, FEWER = "`Similarity()`", "as the papers", "300 rounds"
HEADER = [
    "variant",
    "mean test error, %",
    "`Similarity()` better – worse",
    "error, ratio",
    "fall of ln L a round, ratio",
    "rounds, ratio",
]


def differences(found: dict[str, Any]) -> str:
    """Every variant beside the default one; ratios are geometric means over the sets."""
    variants = {name: np.array(each) for name, each in found["variants"].items()}  # (sets, 3)
    rows = []
    for name, each in variants.items():
        beside = variants[FEWER if name.endswith(FEWER) else DEFAULT]
        if name in (DEFAULT, FEWER):
            rows.append([_named(name), f"{each[:, 0].mean():.2f}", "", "", "", ""])
            continue
        wins = [(sign * (each - beside)[:, 0] > 0).sum() for sign in (1, -1)]
        some = (each[:, 0] > 0) & (beside[:, 0] > 0)  # a ratio to an error of 0 says nothing
        ratios = [
            np.exp(np.log(each[some, 0] / beside[some, 0]).mean()),
            *(np.exp(np.log(each[:, k] / beside[:, k]).mean()) for k in (1, 2)),
        ]
        rows.append(
            [
                name,
                f"{each[:, 0].mean():.2f}",
                "{} – {}".format(*wins),
                *(f"{ratio:.2f}" for ratio in ratios),
            ]
        )
    rounds = {name: len(errors) for name, errors in found["by_round"].items()}
    header = [
        "test error, %",
        *(f"{found['every'] * t:,}" for t in range(1, max(rounds.values()) + 1)),
    ]
    by_round = [
        [name, *(f"{error:.2f}" for error in errors)] for name, errors in found["by_round"].items()
    ]
    return (
        f"{measuring.markdown(HEADER, rows)}\n\n"
        f"{len(found['sets'])} data sets, {found['seeds']} splits each, whitened distances. Variants of "
        f"{FEWER} are compared with `Similarity()` of as many.\n\n"
        "By the number of rounds, on large data sets with many classes:\n\n"
        f"{measuring.markdown(header, by_round)}"
    )


def _named(variant: str) -> str:
    return variant if variant == DEFAULT else f"{DEFAULT}, {variant}"
