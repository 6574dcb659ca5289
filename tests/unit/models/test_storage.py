from pathlib import Path

import pytest

from jobsight.errors import ModelError
from jobsight.models.storage import load_arrays, load_body


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"schema": 1, "kind": "x"}', "\udcff"])
def test_damage_is_one_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ModelError, match=r"model\.json"), load_body(tmp_path, "x") as body:
        float(body["rate"])


def test_missing_or_damaged_arrays(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        load_arrays(tmp_path / "x")
    (tmp_path / "x").write_bytes(b"\x00" * 20)
    with pytest.raises(ModelError, match="damaged"):
        load_arrays(tmp_path / "x")
