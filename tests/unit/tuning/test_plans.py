"""A sweep's folder as it is planned, its study, and what schedulers are given of it."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from optuna.trial import TrialState

from jobsight.codes import EventCode
from jobsight.errors import ClusterError, SweepError, UsageError
from jobsight.questions import QUESTIONS
from jobsight.tuning import dagfiles, plan
from jobsight.tuning.config import SweepConfig
from jobsight.tuning.dagman import follow_nodes
from jobsight.tuning.finish import bring_in
from jobsight.tuning.folder import Sweep
from jobsight.tuning.plan import inputs_of, plan_sweep
from jobsight.tuning.progress import progress_of
from jobsight.tuning.record import Epoch, RunRecord, run_folder
from jobsight.tuning.scheduler import NodeStatus, Status, words_of
from jobsight.tuning.slurm import script_lines
from jobsight.tuning.study import Runs, open_study

assert QUESTIONS  # the table that configs name questions of


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read: `history/` is only marked as read."""

    def write_source(folder: Path, *_: Any) -> None:
        (folder / "history").mkdir()
        (folder / "history/read.json").write_text('{"sources": []}')

    monkeypatch.setattr(plan, "write_source", write_source)


def planned(place: Path, *, active: bool = False, **changed: Any) -> Sweep:
    content = {"data": ["pool.log"], "runs": 3, "parameters": {"m": {"min": 4, "max": 90}}}
    file = place / "sweep.yaml"
    file.write_text(json.dumps(content | changed))
    (place / "pool.log").touch()
    sweep, _ = plan_sweep(
        file,
        SweepConfig.read(file),
        inputs=inputs_of(["pool.log"], place),
        read=lambda _inputs: (None, []),
        command=("/opt/my python/bin/python", "-m", "jobsight"),
        registry=place / "models",
        settings={},
        is_active=lambda _: active,
    )
    return sweep


def ended(sweep: Sweep, run: int, value: float | None, **more: Any) -> RunRecord:
    """A run that ended after two epochs, as its record has it."""
    record = RunRecord.read(run_folder(sweep.folder, run)) or RunRecord(run, {})
    record.started, record.state, record.attempts = "2026-11-28T04:00:00+00:00", "complete", 1
    metrics = (None if value is None else value / 2, value)
    record.epochs = [Epoch(at, 0.5, 0.4, metric, 1.0) for at, metric in enumerate(metrics, 1)]
    record.value, record.best_epoch, record.stopped = value, 2, "epochs"
    for name, attribute in more.items():
        setattr(record, name, attribute)
    record.write(run_folder(sweep.folder, run))
    return record


def test_a_folder_is_planned_once_and_follows_its_config_until_it_has_begun(tmp_path: Path) -> None:
    sweep = planned(tmp_path)
    study = open_study(sweep.folder)
    assert [one.state for one in study.trials] == [TrialState.WAITING] * 3
    points = [one.params for one in study.trials]
    assert [RunRecord.read(run_folder(sweep.folder, run)).params for run in (1, 2, 3)] == points  # type: ignore[union-attr]
    assert SweepConfig.read(sweep.folder / "sweep.yaml") == sweep.config
    assert planned(tmp_path, seed=4).config.seed == 4
    assert [one.params for one in open_study(sweep.folder).trials] != points
    with pytest.raises(SweepError, match="is being worked on, and the config has changed"):
        planned(tmp_path, seed=5, active=True)
    ended(sweep, 1, 0.5)
    with pytest.raises(SweepError, match="seed was 4 and is 5"):
        planned(tmp_path, seed=5)
    with pytest.raises(SweepError, match="more runs, but not fewer"):
        planned(tmp_path, seed=4, runs=2)
    longer = planned(tmp_path, seed=4, runs=5, where="slurm")
    assert len(Runs.open(longer.folder).trials()) == 5
    assert Runs.open(longer.folder).unfinished() == [1, 2, 3, 4, 5]
    assert bring_in(longer.folder).unfinished() == [2, 3, 4, 5]


def test_what_is_not_a_sweep_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "sweep.sweep").mkdir()
    (tmp_path / "sweep.sweep/thesis.tex").touch()
    with pytest.raises(SweepError, match=r"holds 'thesis.tex', but no sweep"):
        planned(tmp_path)
    with pytest.raises(SweepError, match="is not a sweep's folder"):
        Sweep.open(tmp_path)
    for data, said in (("-", "standard input"), ("redis://:x@host", "holds a user or password")):
        with pytest.raises(UsageError, match=said):
            inputs_of([data], tmp_path)
    with pytest.raises(SweepError, match=r"program.image: there is no .*none.sif"):
        planned(tmp_path, program={"image": "none.sif"}, folder="other")


def test_what_runs_record_is_in_the_study_and_the_best_is_best(tmp_path: Path) -> None:
    sweep = planned(tmp_path, runs=6)
    for run, value in ((1, 0.5), (2, 0.75), (3, 0.75)):
        ended(sweep, run, value, metrics={"f1": value})
    ended(sweep, 4, 0.9, state="pruned", stopped="pruned")
    ended(sweep, 5, None, state="failed", error="the loss became NaN")
    ended(sweep, 6, 0.8, state="running", stopped="cancelled", host="node7")
    runs = bring_in(sweep.folder)
    assert not runs.bring_in(ended(sweep, 6, 0.8, state="running", stopped="cancelled"))
    trials = open_study(sweep.folder).trials
    states = [one.state.name for one in trials]
    assert states == [*["COMPLETE"] * 3, "PRUNED", "FAIL", "RUNNING"]
    assert trials[1].intermediate_values == {1: 0.375, 2: 0.75}
    assert trials[1].user_attrs["epochs"][0]["train_loss"] == 0.5
    assert trials[4].user_attrs["error"] == "the loss became NaN"
    assert runs.best().number == 1, "of equal ones the first"
    nodes = {"run-0006": NodeStatus("failed", "exit status 1"), "best": NodeStatus("held", "x")}
    progress = progress_of(sweep, runs, Status(False, "job 3", nodes))
    assert progress.states == {"complete": 3, "pruned": 1, "failed": 1, "broken": 1}
    assert [one.what for one in progress.failures] == ["run-0006", "best", "run 5"]
    assert progress.best is not None and progress.best.run == 6 and not progress.done
    least = planned(tmp_path, folder="least", metric={"name": "log_loss"})
    for run, value in ((1, 0.5), (2, 0.25), (3, 0.75)):
        ended(least, run, value)
    assert bring_in(least.folder).best().number == 1
    none = planned(tmp_path, folder="none")
    with pytest.raises(SweepError, match="none of 3 runs has ended yet"):
        bring_in(none.folder).best()
    ended(none, 2, None, state="failed", error="NaN")
    with pytest.raises(SweepError, match=r"all runs that ended failed .* run 2: NaN"):
        bring_in(none.folder).best()


def test_a_point_that_is_learned_depends_on_the_results_and_stays(tmp_path: Path) -> None:
    found = []
    for folder, good in (("a", 80), ("b", 80), ("c", 10)):
        place = tmp_path / folder
        place.mkdir()
        sweep = planned(place, method="bayes", runs=20)
        for run in range(1, 15):
            m = 4 + 6 * run
            ended(sweep, run, 1 / (1 + abs(m - good)), params={"m": m})
            Runs.open(sweep.folder, sweep.config, run).ask(run, sweep.config)
        runs = bring_in(sweep.folder)
        assert runs.trials()[14].params == {}
        asking = Runs.open(sweep.folder, sweep.config, 15)
        found.append(asking.ask(15, sweep.config))
        assert asking.ask(15, sweep.config) == found[-1]
    assert found[0] == found[1]


def lines_of(sweep: Sweep, name: str) -> list[str]:
    return dagfiles.files_of(sweep, [1, 2, 3])[name]


def test_a_dag_has_a_job_per_run_and_its_end(tmp_path: Path) -> None:
    (tmp_path / "x $HOME").mkdir()
    sweep = planned(
        tmp_path / "x $HOME",
        where="dagman",
        at_once=2,
        resources={"memory": "2 GB", "gpus": 1, "time": "1 h"},
        dagman={"DAGMAN_MAX_JOBS_IDLE": 5, "requirements": ["A", "B"], "+Project": '"x"'},
        program={"environment": {"A": "it's"}},
    )
    assert lines_of(sweep, "sweep.dag") == [
        "CONFIG submitted/dagman.config",
        *(
            line
            for run in (1, 2, 3)
            for line in (
                f"JOB run-000{run} submitted/run.sub",
                f'VARS run-000{run} run="{run}" place="000{run}"',
                f"RETRY run-000{run} 1",
                f"CATEGORY run-000{run} runs",
            )
        ),
        "MAXJOBS runs 2",
        "JOB best submitted/best.sub",
        "JOB register submitted/register.sub",
        "PARENT best CHILD register",
        "PARENT run-0001 run-0002 run-0003 CHILD best",
    ]
    run = lines_of(sweep, "run.sub")
    for line in (
        "executable = /opt/my python/bin/python",
        'arguments = "-m jobsight sweep node run $(run) ."',
        f"initialdir = {str(sweep.folder).replace('$', '$(DOLLAR)')}",
        "environment = \"A='it''s'\"",
        "checkpoint_exit_code = 85",
        "when_to_transfer_output = ON_EXIT_OR_EVICT",
        "transfer_checkpoint_files = runs/$(place)",
        "request_memory = 2048",
        "request_gpus = 1",
        "requirements = (A) && (B)",
        '+Project = "x"',
        "periodic_vacate = JobStatus == 2 && time() - JobCurrentStartDate > 3600",
    ):
        assert line in run, line
    register = lines_of(sweep, "register.sub")
    assert "universe = local" in register and '+Project = "x"' in register
    assert not any(line.startswith(("requirements", "request_gpus")) for line in register)
    learns = planned(tmp_path, where="dagman", method="bayes", at_once=2)
    lines = lines_of(learns, "sweep.dag")
    assert "SCRIPT PRE run-0003 submitted/choose.sh 3" in lines
    assert "PARENT run-0001 CHILD run-0003" in lines and not any("CATEGORY" in x for x in lines)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"log": "x"}, "written by jobsight"),
        ({"a.b": "x"}, "is not a submit command"),
        ({"rank": "x\\"}, "cannot be submitted"),
    ],
)
def test_bad_submit_commands_are_refused(tmp_path: Path, options: Any, said: str) -> None:
    sweep = planned(tmp_path, where="dagman", dagman=options)
    with pytest.raises(ClusterError, match=said):
        dagfiles.files_of(sweep, [1])


def test_a_slurm_script_hands_signals_on_and_queues_again(tmp_path: Path) -> None:
    """The script is run by bash, with a run and a `scontrol` of our own."""
    run = tmp_path / "run"
    run.write_text(
        '#!/bin/sh\ntrap "echo saved; exit 85" USR1\necho "$@" ready\nsleep 9 & wait $!\n'
    )
    (tmp_path / "scontrol").write_text('#!/bin/sh\necho "scontrol $*"\n')
    for tool in ("run", "scontrol"):
        (tmp_path / tool).chmod(0o755)
    sweep = planned(
        tmp_path,
        where="slurm",
        resources={"time": "2 h", "cpus": 2},
        slurm={"partition": "gpu", "exclusive": True},
        program={"environment": {"A": "it's"}},
    )
    sweep = Sweep(
        sweep.folder,
        sweep.config,
        msgspec.structs.replace(sweep.planned, command=[str(run), "it's"]),
    )
    lines = list(script_lines(sweep, "runs"))
    for line in ("--partition=gpu", "--exclusive", "--time=120", "--signal=B:USR1@60", "--requeue"):
        assert f"#SBATCH {line}" in lines
    script = tmp_path / "runs.sh"
    script.write_text("\n".join([*lines, ""]))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_ARRAY_JOB_ID": "12"}
    with subprocess.Popen(
        ["bash", str(script)],
        env={**environment, "SLURM_ARRAY_TASK_ID": "7"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "it's sweep node run 7 . ready\n"
        process.send_signal(10)
        assert process.stdout.read() == "saved\nscontrol requeue 12_7\n"
    assert process.returncode == 0
    finish = list(script_lines(sweep, "finish"))
    assert shlex.split(finish[-1])[1:] == [str(run), "it's", "sweep", "node", "finish", "."]
    for options, said in (
        ({"nodes": 2}, "nodes is written by jobsight"),
        ({"partition": "a b"}, "no blanks and no quotes"),
    ):
        other = planned(tmp_path, where="slurm", folder="other", slurm=options)
        with pytest.raises(ClusterError, match=said):
            list(script_lines(other, "runs"))


def test_a_container_sees_the_folder_and_no_packages_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "image.sif").touch()
    image = {"image": "image.sif", "environment": {"PYTHONPATH": "/mine"}}
    sweep = planned(tmp_path, program=image, resources={"gpus": 1})
    words = words_of(sweep, "run", "3")
    assert words[:2] == ["apptainer", "exec"] and "--nv" in words
    assert words[-6:] == ["jobsight", "sweep", "node", "run", "3", "."]
    assert words[-7] == str(tmp_path / "image.sif")
    assert f'type=bind,"src={sweep.folder}","dst={sweep.folder}"' in words
    assert "PYTHONHOME=" in words and "PYTHONPATH=" not in words
    there = planned(tmp_path, folder="dag", where="dagman", program={"image": "docker://x/y:1"})
    run = lines_of(there, "run.sub")
    assert "universe = container" in run and "container_image = docker://x/y:1" in run
    assert 'arguments = "jobsight sweep node run $(run) ."' in run


def event(code: int, *, node: str | None = None, **more: Any) -> dict[str, Any]:
    columns = ("hold_code", "reason", "return_value", "signal", "host", "slot")
    row: dict[str, Any] = dict.fromkeys(columns)
    return {**row, "cluster": 7, "proc": 0, "code": code, "dag_node": node, **more}


@pytest.mark.parametrize(
    ("rows", "state", "cause"),
    [
        ([], "queued", None),
        ([event(EventCode.EXECUTE, slot="slot1_1@site@host")], "running", None),
        ([event(EventCode.TERMINATED, return_value=0)], "done", None),
        ([event(EventCode.TERMINATED, return_value=3)], "failed", "exit status 3"),
        ([event(EventCode.TERMINATED, signal=9)], "failed", "killed by signal 9"),
        ([event(EventCode.EVICTED)], "queued", None),
        (
            [event(EventCode.HELD, hold_code=6, reason="errno=2: 'No such file'")],
            "held",
            r"held \(FailedToCreateProcess\): .*the program is not there",
        ),
        (
            [
                event(EventCode.HELD, hold_code=34, reason="memory"),
                event(EventCode.ABORTED, reason="via PeriodicRemove"),
            ],
            "failed",
            r"held \(JobOutOfResources\): memory",
        ),
        ([event(EventCode.ABORTED, reason="via condor_rm")], "removed", "removed: via condor_rm"),
    ],
)  # fmt: skip
def test_the_event_log_has_the_state_of_each_run(
    rows: list[dict[str, Any]], state: str, cause: str | None
) -> None:
    nodes = follow_nodes([event(EventCode.SUBMIT, node="run-0001"), *rows, event(1, cluster=8)])
    assert list(nodes) == ["run-0001"] and nodes["run-0001"].state == state
    assert re.match(cause or "None", str(nodes["run-0001"].cause))
