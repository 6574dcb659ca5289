from pathlib import Path

import numpy as np
import pytest

from jobsight.errors import ModelError
from jobsight.models.storage import load_arrays, load_body, save_arrays, save_body


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"schema": 1, "kind": "x"}', "\udcff"])
def test_damage_is_one_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ModelError, match=r"model\.json"), load_body(tmp_path, "x") as body:
        float(body["rate"])


def test_numbers_come_back_exactly(tmp_path: Path) -> None:
    save_body(tmp_path, "x", {"values": [0.1, 1 / 3, 1e-300]})
    with load_body(tmp_path, "x") as body:
        assert body["values"] == [0.1, 1 / 3, 1e-300]


def test_arrays_come_back_exactly(tmp_path: Path) -> None:
    arrays = {"a": np.array([[np.nan, 1.0]]), "b": np.array([True]), "c": np.zeros(0, np.int32)}
    save_arrays(tmp_path / "x", arrays)
    again = load_arrays(tmp_path / "x")
    assert set(again) == set(arrays)
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype
        np.testing.assert_array_equal(again[name], array)


def test_missing_or_damaged_arrays(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        load_arrays(tmp_path / "x")
    (tmp_path / "x").write_bytes(b"\x00" * 20)
    with pytest.raises(ModelError, match="damaged"):
        load_arrays(tmp_path / "x")
