"""What `jobsight check` finds from history: by the examples of its rules, and in a store."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.failingjobs import HOUR, ran
from tests.support.storedjobs import filled, job, told
from tests.unit.program.checking import written
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import JobDocument, Request, State, Submission, Usage
from jobsight.program.preflight.findings import RULES, Rule
from jobsight.questions.fail import checks

RULES_OF_HISTORY = sorted(code for code, one in RULES.items() if one.kind == "history")
OOM, FAILED = State.OUT_OF_MEMORY, State.FAILED
SCRIPT = "#!/bin/bash\n#SBATCH --mem=8G\n#SBATCH --time=60\n#SBATCH -J align.sh\necho hello\n"


@pytest.fixture(autouse=True)
def _ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    monkeypatch.chdir(tmp_path)


def found(*words: str, name: str = "job.sh") -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["check", "--json", name, *words])
    assert done.exit_code == 0, done.output
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    assert all(one["severity"] == "warning" for one in findings)
    return findings


def found_in(runs: list[JobDocument], script: str = SCRIPT, name: str = "job.sh") -> list[str]:
    Path(name).write_text(script)
    at = ("--store", filled(Path("jobs.db").absolute(), runs))
    return [f"{one['line']} {one['code']} {one['message']}" for one in found(*at, name=name)]


@pytest.mark.parametrize("code", RULES_OF_HISTORY)
def test_examples(code: str) -> None:
    rule: Rule = RULES[code]
    for example, wanted in ((rule.fails, [code]), (rule.passes, [])):
        written(Path(), "job.sh", example)
        assert [one["code"] for one in found("--import", "sacct.psv")] == wanted
        assert found() == []
    assert rule.check.__module__ == checks.__name__


def test_counts_of_runs_are_given_and_few_runs_show_nothing() -> None:
    runs = [ran(n, n * HOUR, OOM, peak=8000) for n in range(1, 5)]
    assert found_in(runs) == []
    fifth = ran(5, 5 * HOUR, peak=9000)
    assert found_in([*runs, fifth]) == [
        "2 JS501 8,192 MB are likely too little: of the last 5 runs of align.sh, "
        "4 ran out of as much memory and 1 used more"
    ]
    assert found_in([*runs, fifth], SCRIPT.replace("8G", "12G")) == []
    others = [ran(n, n * HOUR, OOM, user="bob") for n in range(1, 20)]
    assert found_in(others) == []


def test_runs_that_fitted_outweigh_those_that_did_not() -> None:
    runs = [ran(n, n * HOUR, OOM if n < 6 else State.COMPLETED, peak=8000) for n in range(1, 20)]
    assert found_in(runs) == []


def test_a_script_fixed_since_is_not_suspected() -> None:
    runs = [ran(n, n * HOUR, FAILED, code=2) for n in range(1, 8)]
    assert [one[:7] for one in found_in(runs)] == ["1 JS505"]
    assert found_in([*runs, ran(9, 9 * HOUR)]) == []


def test_kills_for_memory_want_memory_and_not_another_program() -> None:
    runs = [ran(n, n * HOUR, State.FAILED, code=137, peak=8190) for n in range(1, 8)]
    assert [one.split()[1] for one in found_in(runs)] == ["JS501"]


def test_a_kill_is_not_called_a_fault_of_the_program() -> None:
    runs = [ran(n, n * HOUR, State.FAILED, code=137) for n in range(1, 8)]
    (line,) = found_in(runs)
    assert line.startswith("1 JS505 the last 7 runs of align.sh failed: it was killed from outside")
    (fix,) = [one["fix"] for one in found("--store", str(Path("jobs.db").absolute()))]
    assert fix.startswith("look for oom-kill in its output; measure its memory")


def test_hostile_names_are_shown_harmless() -> None:
    runs = [ran(n, n * HOUR, FAILED, name="x\x1b[2J") for n in range(1, 8)]
    (line,) = found_in(runs, SCRIPT.replace("align.sh", "'x\x1b[2J'"))
    assert line.isprintable()


def test_submit_files_are_compared_with_runs_of_their_executable() -> None:
    written(Path(), "run.sh", "#!/bin/sh\necho ok\n")
    Path("run.sh").chmod(0o755)
    submission = Submission(user="ann", command=str(Path("run.sh").absolute()))
    runs = [
        job(f"htcondor:ap:{n}.0", told(n * HOUR, State.PENDING), told(n * HOUR + 5, State.RUNNING),
            told(n * HOUR + 600, State.COMPLETED), submission=submission,
            request=Request(memory_mb=2048), usage=Usage(memory_mb=3000))
        for n in range(1, 8)
    ]  # fmt: skip
    submit = "executable = run.sh\nlog = a.log\nrequest_memory = 2 GB\nqueue\n"
    assert found_in(runs, submit, "job.sub") == [
        "3 JS501 2,048 MB are likely too little: of the last 7 runs of this script, 7 used more"
    ]


def test_without_a_history_nothing_of_it_is_imported() -> None:
    Path("job.sh").write_text(SCRIPT)
    program = (
        "import sys\nfrom jobsight.cli.main import app\n"
        "app(['check', 'job.sh'], standalone_mode=False)\n"
        "assert not {'polars', 'numba', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_no_more_memory_is_proposed_than_a_node_of_this_cluster_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By `check` of a job here, and by `fail` of a job of this cluster."""
    runs = [ran(n, n * HOUR, OOM, peak=8190) for n in range(1, 12)]
    waits = ran(99, 50 * HOUR, waits=True)
    store = ("--store", filled(Path("jobs.db").absolute(), [*runs, waits]))
    cluster = waits.id.split(":")[1]
    tools = Path("bin")
    tools.mkdir()
    (tools / "scontrol").write_text(
        "#!/bin/sh\ncase $2 in\n"
        f"    config) echo 'ClusterName = {cluster}' ;;\n"
        "    partition) echo 'PartitionName=main Default=YES State=UP' ;;\n"
        "    node) echo 'NodeName=a CPUTot=4 RealMemory=9000 Partitions=main' ;;\nesac\n"
    )
    (tools / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools.absolute()), prepend=os.pathsep)
    Path("job.sh").write_text(SCRIPT)
    checked = [one["fix"] for one in found(*store) if one["code"] == "JS501"]
    asked = CliRunner().invoke(app, ["fail", "99", *store, "--model", "none", "--json"])
    assert asked.exit_code == 0, asked.output
    assert [*checked, json.loads(asked.stdout)["advice"]["option"]] == ["--mem=9000M"] * 2
