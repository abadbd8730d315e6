import importlib.util
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_coins.py"


def test_twelve_coins_suffice_to_find_the_other_twelve(tmp_path):
    pytest.importorskip("skimage")
    pytest.importorskip("matplotlib").use("Agg")
    spec = importlib.util.spec_from_file_location("plot_coins", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(tmp_path / "coins.png") == (12, 12, 0)
    assert (tmp_path / "coins.png").stat().st_size > 0
