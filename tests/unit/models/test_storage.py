from pathlib import Path

import pytest

from jobsight.errors import ModelError
from jobsight.models.storage import load_body


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"schema": 1, "kind": "x"}', "\udcff"])
def test_damage_is_one_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ModelError, match=r"model\.json"), load_body(tmp_path, "x") as body:
        float(body["rate"])
