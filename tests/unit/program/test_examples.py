"""Programs with what bound them: lines of a corpus, and documents of jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobsight.documents import JobDocument, Request, Submission, Usage
from jobsight.errors import SourceError
from jobsight.program.examples import Example, example_of, examples_in, lines_file

SHARES = {"cpu": 0.9, "waiting": 0.1, "memory": None}
LINE = {"path": "one/fft.py", "family": "one", "shares": SHARES, "label": "cpu"}


def corpus(folder: Path, *lines: object) -> Path:
    (folder / "one").mkdir(exist_ok=True)
    (folder / "one" / "fft.py").write_text("import numpy\n")
    path = folder / "measured.jsonl"
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
    )
    return path


def test_a_line_becomes_an_example(tmp_path: Path) -> None:
    path = corpus(tmp_path, LINE, LINE | {
        "label": "ambiguous", "classes": ["cpu", "memory"], "arguments": ["1500", "4"]
    })  # fmt: skip
    first, second = examples_in(path)
    assert lines_file(str(tmp_path)) == path == lines_file(str(path))
    assert (first.family, first.language, first.classes) == ("one", "python", ("cpu",))
    assert first.shares == {"cpu": 0.9, "waiting": 0.1}
    assert second.classes == ("cpu", "memory")
    assert first.text == "import numpy\n"
    assert (first.arguments, second.arguments) == ((), ("1500", "4"))
    assert Example.from_json(second.to_json()) == second


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not a measured program"),
        ({"path": "one/fft.py"}, "line 1: not a measured program"),
        (LINE | {"label": "disk"}, "no class is named disk"),
        (LINE | {"path": "one/gone.py"}, "cannot read one/gone.py"),
        ([], "not a measured program"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        list(examples_in(corpus(tmp_path, line)))


def test_a_job_is_measured_or_accounted() -> None:
    script = Submission(
        script="#!/bin/bash\npython3 run_17.py\n", directory="/work", command="job.sh"
    )
    used = Usage(wall_s=100.0, cpu_s=2.0, cpus=1)
    coarse = example_of(JobDocument("slurm:c:7", 1, submission=script, usage=used))
    assert coarse is not None
    assert not coarse.measured
    assert set(coarse.classes) == {"io", "network", "waiting"}
    assert coarse.job == "c 7"
    bound = {"source": "sampled", "shares": {"io": 0.8, "gpu": None}, "classes": ["io"],
             "unmeasured": {}}  # fmt: skip
    other = Submission(script="#!/bin/bash\npython3 run_18.py\n")
    fine = example_of(JobDocument("slurm:c:8", 1, submission=other, usage=Usage(bound=bound)))
    assert fine is not None
    assert (fine.measured, fine.classes, fine.shares) == (True, ("io",), {"io": 0.8})
    assert fine.family == coarse.family


def test_jobs_of_which_too_little_is_known_teach_nothing() -> None:
    script = Submission(script="#!/bin/bash\ntrue\n")
    assert (
        example_of(JobDocument("slurm:c:1", 1, submission=script, request=Request(cpus=1))) is None
    )
    assert example_of(JobDocument("slurm:c:1", 1, usage=Usage(wall_s=9.0, cpu_s=9.0))) is None
