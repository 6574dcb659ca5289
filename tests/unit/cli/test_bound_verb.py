"""``jobsight bound``: what it prints of programs and jobs, with the model that ships."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import JobDocument, Submission
from jobsight.questions.bound.answering import CLASSES
from jobsight.questions.bound.question import SHIPPED
from jobsight.store import open_store

SLEEPER = "import time\nfor turn in range(100):\n    time.sleep(30)\n"
FETCHER = """import sys
import urllib.request
for number in range(int(sys.argv[1])):
    with urllib.request.urlopen(f"http://data.example.org/{number}") as reply:
        print(len(reply.read()))
"""


def said(*call: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["bound", *call])
    return result.exit_code, result.stdout


def answer(path: Path, text: str | bytes) -> dict[str, object]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    status, printed = said("--json", str(path))
    assert status == 0, printed
    found: dict[str, object] = json.loads(printed)
    return found


def test_one_file_is_one_object_and_several_are_a_list(tmp_path: Path) -> None:
    found = answer(tmp_path / "a.py", SLEEPER)
    assert list(found) == ["file", "class", "job", "shares", "confidence", "evidence"]
    assert (found["file"], found["class"], found["job"]) == (
        str(tmp_path / "a.py"),
        "waiting",
        True,
    )
    shares = found["shares"]
    assert isinstance(shares, dict)
    assert tuple(shares) == CLASSES
    assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
    assert found["evidence"] == [
        {"file": str(tmp_path / "a.py"), "line": 3,
         "what": "time.sleep: sleep in a loop; waits"}
    ]  # fmt: skip
    (tmp_path / "b.py").write_text(FETCHER)
    status, printed = said("--json", str(tmp_path / "a.py"), str(tmp_path / "b.py"))
    assert (status, [one["class"] for one in json.loads(printed)]) == (0, ["waiting", "network"])


def test_programs_that_a_script_runs_count(tmp_path: Path) -> None:
    (tmp_path / "fetch.py").write_text(FETCHER)
    script = "#!/bin/bash\n#SBATCH --time=10\npython3 fetch.py 500\n"
    found = answer(tmp_path / "job.sh", script)
    assert found["class"] == "network"
    assert any("fetch.py" in one["file"] for one in found["evidence"])  # type: ignore[attr-defined]


def test_a_gpu_is_a_rule_and_says_so(tmp_path: Path) -> None:
    text = "import cupy\nfor k in range(100):\n    cupy.linalg.svd(cupy.random.rand(4000, 4000))\n"
    found = answer(tmp_path / "a.py", text)
    assert found["class"] == "gpu"
    assert "unmeasured" in str(found["evidence"])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x7fELF\x00\x01\x02" + bytes(range(256)),
        "print('Grüße')\n".encode("latin-1"),
        b"def f(:\n    return (((\n",
        b"x = " + b"[" * 3000 + b"]" * 3000 + b"\n",
        pytest.param(b"total = 0\n" + b"total += 9 * total\n" * 20_000, marks=pytest.mark.slow),
    ],
    ids=["empty", "binary", "latin-1", "broken", "nested", "long"],
)
def test_sources_that_are_odd_get_an_answer(tmp_path: Path, text: bytes) -> None:
    found = answer(tmp_path / "odd.py", text)
    assert found["class"] in (*CLASSES, "unsure")


def test_scripts_that_run_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "b.sh").write_text(f"#!/bin/bash\nbash {tmp_path}/a.sh\n")
    found = answer(tmp_path / "a.sh", f"#!/bin/bash\nbash {tmp_path}/b.sh\n")
    assert found["class"] in (*CLASSES, "unsure")


def test_what_is_missing_is_named_and_the_rest_answered(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SLEEPER)
    result = CliRunner().invoke(app, ["bound", str(tmp_path / "a.py"), "no/such.py"])
    assert result.exit_code != 0
    assert "waiting" in result.stdout
    assert "no/such.py" in str(result.exception)


def test_a_job_of_the_store_is_answered_and_the_answer_kept(tmp_path: Path) -> None:
    script = Submission(script="#!/bin/bash\nsleep 3000\n", directory="/work", command="job.sh")
    url = str(tmp_path / "jobs.db")
    with open_store(url, create=True) as store:
        store.merge([JobDocument("slurm:c:7", 1, submission=script)])
    status, printed = said("7", "--json", "--save", "--store", url)
    assert (status, json.loads(printed)["class"]) == (0, "waiting")
    with open_store(url) as store:
        kept = next(store.scan()).predictions
    assert [(one.question, one.answer["class"]) for one in kept] == [("bound", "waiting")]


def test_answers_import_no_training_library(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SLEEPER)
    code = (
        "import sys; sys.argv[0] = 'jobsight'\n"
        "from jobsight.cli.main import app\n"
        "try:\n    app()\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'sklearn', 'lightgbm', 'scipy', 'numba', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    call = [sys.executable, "-c", code, "bound", str(tmp_path / "a.py")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_model_that_ships_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*")) < 600_000
