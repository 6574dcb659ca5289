"""The pages of docs/reference/, the man page and what completion reads say what the code says."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from docs.generate import FILES, ROOT
from tests.support.calling import jobsight

from jobsight.cli.verbs import VERBS

JSON = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
TILES = 'import urllib.request\nfor n in range(9):\n    urllib.request.urlopen(f"http://a/{n}")\n'


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_as_the_code(name: str) -> None:
    committed = (ROOT / name).read_text(encoding="utf-8")
    # In a process of its own: other tests add questions, which help texts list.
    program = f"from docs.generate import text_of; print(text_of({name!r}), end='')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert committed == done.stdout, f"run `make docs`: {name} has changed"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_set_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-rLL=80n", ROOT / "packaging" / "jobsight.1"],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert done.stderr == ""
    plain = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)  # bold, by overstriking or by escapes
    for verb, (module, line) in VERBS.items():
        if module:
            assert (f"\n   jobsight {verb} " in plain) == bool(line), verb


def keys_of(question: str) -> list[str]:
    """Keys of the first table of a question, in order."""
    section = JSON.partition(f"\n## {question}\n")[2].partition("\n\n| `what`")[0]
    section = section.partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.M)
    return [key for cell in cells for key in re.findall(r"`([^`]+)`", cell)]


CALLS: dict[str, Sequence[str]] = {
    "hold": (
        "hold", "2153.22", "--log", "data/pool-a.log.gz", "--model", "none",
        "--at", "2026-11-21 01:52:18Z",
    ),
    "fail": ("fail", "103_3", "--import", "data/samples/sacct.psv", "--model", "none"),
    "start": ("start", "103_3", "--import", "data/samples/sacct.psv", "--model", "none"),
    "bound": ("bound", "tiles.py"),
    "check": ("check", "tiles.sh"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("question", CALLS)
def test_answers_have_the_keys_of_the_page(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "tiles.py").write_text(TILES, encoding="utf-8")
    (tmp_path / "tiles.sh").write_text("#!/bin/bash\npython3 missing.py\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer: dict[str, Any] = json.loads(jobsight(*CALLS[question], "--json").stdout)
    assert sorted(keys_of(question)) == sorted(answer)
    if question == "check":
        row = re.search(r"`findings` \| list of ([^|]+) \|", JSON)
        assert row
        assert re.findall(r"`(\w+)`", row[1]) == list(answer["findings"][0])
