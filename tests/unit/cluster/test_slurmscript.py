import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import limit
from tests.testbed.namespace import until

from jobsight.cluster import Node, Plan, Program, Resources, Stage
from jobsight.cluster.slurm import Slurm
from jobsight.cluster.slurmscript import Array, arrays_of, at_once, exported, script_lines, task_log
from jobsight.cluster.states import Attempt, done, make_folders, plan_digest, read_states
from jobsight.errors import ClusterError

FAKE = """#!/bin/sh
echo "$@" >> requeued
exit ${REQUEUE_STATUS:-0}
"""


def node(name: str, *words: str, **more: Any) -> Node:
    return Node(name, words, **more)


def plan(folder: Path, *nodes: Node, **more: Any) -> Plan:
    program = more.pop("program", Program(("/bin/sh", "-c")))
    return Plan("sweep", folder, (Stage("runs", nodes),), program, **{"shared": True} | more)


def lines(made: Plan) -> list[str]:
    return list(script_lines(made, arrays_of(made)[0], "abcd1234"))


def option_lines(made: Plan) -> list[str]:
    return [line for line in lines(made) if line.startswith("#SBATCH")]


def test_the_options_of_a_script() -> None:
    asks = Resources(cpus=2, memory_mb=3000, gpus=1, seconds=3601)
    options = {"slurm": {"partition": "gpu", "gres": "gpu:a100:1", "exclude": ["n1", "n2"]}}
    made = plan(Path("/p"), node("a", "x", resources=asks, checkpoints=True), options=options)
    assert option_lines(made) == [
        "#SBATCH --job-name=sweep.runs",
        "#SBATCH --output=submitted/logs/slurm-%A_%a.log",
        "#SBATCH --open-mode=append",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks=1",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=3000M",
        "#SBATCH --kill-on-invalid-dep=yes",
        "#SBATCH --gres=gpu:a100:1",
        "#SBATCH --time=61",
        "#SBATCH --signal=B:USR1@60",
        "#SBATCH --partition=gpu",
        "#SBATCH --exclude=n1,n2",
        "#SBATCH --requeue",
    ]
    assert lines(made)[0] == "#!/bin/bash"


@pytest.mark.parametrize("seconds", [1, 60, 90])
def test_a_short_limit_leaves_time_to_work(seconds: int) -> None:
    asks = Resources(seconds=seconds)
    told = option_lines(plan(Path("/p"), node("a", resources=asks, checkpoints=True)))
    notice = next(int(line.rpartition("@")[2]) for line in told if "--signal" in line)
    assert 1 <= notice <= max(1, seconds // 2)


def test_who_cannot_save_is_not_told_to() -> None:
    assert not any("--signal" in line for line in lines(plan(Path("/p"), node("a"))))


def test_a_folder_that_slurm_would_misread_has_no_log_of_its_own() -> None:
    assert "#SBATCH --output=/dev/null" in lines(plan(Path("/100%A"), node("a")))


def test_nodes_that_ask_for_the_same_are_one_array() -> None:
    big = Resources(memory_mb=9000)
    made = plan(
        Path("/p"), node("a"), node("b", resources=big), node("c"), node("d", checkpoints=True)
    )
    found = [(one.name, [item.name for item in one.nodes]) for one in arrays_of(made)]
    assert found == [("00-runs-1", ["a", "c"]), ("01-runs-2", ["b"]), ("02-runs-3", ["d"])]
    assert arrays_of(made)[1].script == "submitted/slurm/01-runs-2.sh"


def test_where_the_log_of_a_task_lies() -> None:
    made = plan(Path("/p"), node("a"))
    assert task_log(made, ("12", 3)) == Path("/p/submitted/logs/slurm-12_3.log")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"wrap": "rm -rf /"}, "no option 'wrap'; known are account, "),
        ({"output": "/etc/passwd"}, "no option 'output'"),
        ({"partition": "a b"}, "partition is 'a b'; give letters"),
        ({"partition": "x\n#SBATCH --uid=0"}, "partition is"),
        ({"partition": ""}, "partition is ''"),
        ({"exclusive": "a b"}, "exclusive is 'a b'"),
        ({"constraint": '"a"'}, "constraint is"),
        ({"nodelist": ["n1", "n2 --uid=0"]}, "nodelist is"),
    ],
)
def test_options_are_checked(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ClusterError, match=told):
        lines(plan(Path("/p"), node("a"), options={"slurm": options}))


def test_a_flag_may_stand_alone() -> None:
    options = {"exclusive": "", "oversubscribe": "", "partition": "main"}
    told = lines(plan(Path("/p"), node("a"), options={"slurm": options}))
    assert {"#SBATCH --exclusive", "#SBATCH --oversubscribe", "#SBATCH --partition=main"} <= {*told}
    mine = plan(Path("/p"), node("a"), options={"slurm": {"exclusive": "user"}})
    assert "#SBATCH --exclusive=user" in lines(mine)


def test_our_own_options_are_checked() -> None:
    def with_option(name: str, value: Any) -> Plan:
        return plan(Path("/p"), node("a"), options={"slurm": {name: value}})

    assert at_once(with_option("at_once", "8")) == "%8"
    assert at_once(with_option("export", "X")) == ""
    for wrong in ("0", "-1", "a", ["1"]):
        with pytest.raises(ClusterError, match="at_once"):
            at_once(with_option("at_once", wrong))
    there = {"PATH": "/bin", "KEY": "secret", "OTHER": "x"}
    assert exported(with_option("export", ["KEY", "LACKING"]), there) == "PATH,KEY"
    assert exported(with_option("at_once", "1"), there) == "PATH"
    assert exported(with_option("at_once", "1"), {}) == "NIL"
    with pytest.raises(ClusterError, match="names of variables, no values"):
        exported(with_option("export", ["KEY=secret"]), there)


def test_images_and_packs(tmp_path: Path) -> None:
    image = plan(Path("/p"), node("a", "x"), program=Program(("job sight",), image="it's.sif"))
    assert any("apptainer exec" in line and "'it'\"'\"'s.sif'" in line for line in lines(image))
    assert not any("singularity" in line for line in lines(plan(Path("/p"), node("a", "x"))))
    pack = Program(("python3",), pack=tmp_path / "env.tar")
    made = plan(tmp_path, node("a", "x"), program=pack)
    written = [path.name for path in Slurm().write(made)]
    assert written == ["00-runs.sh", "start.sh"]
    start = f"    set -- sh submitted/start.sh {tmp_path}/env.tar submitted/pack python3 x ;;"
    assert start in lines(made)


class Task:
    """The script of a plan's first array, run by bash as Slurm would."""

    def __init__(self, made: Plan) -> None:
        self.plan = made
        self.array: Array = arrays_of(made)[0]
        self.digest = plan_digest(made)
        make_folders(made.folder)
        (made.folder / "submitted/slurm").mkdir(exist_ok=True)
        self.script = made.folder / self.array.script
        self.script.write_text("\n".join((*script_lines(made, self.array, self.digest), "")))
        (made.folder / "submitted/slurm/token").write_text(f"{self.digest}/1\n")
        tools = made.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name, text in (("scontrol", FAKE), ("sleep", "#!/bin/sh\n")):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        self.environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "SLURM_ARRAY_JOB_ID": "12",
            "SLURM_ARRAY_TASK_ID": "0",
            "SLURMD_NODENAME": 'n"1\\',
        }

    def start(self, first: int = 0, submission: int = 1, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", str(self.script), str(first), f"{self.digest}/{submission}"],
            cwd=self.plan.folder,
            env=self.environment | more,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, first: int = 0, submission: int = 1, **more: str) -> tuple[int, str]:
        with self.start(first, submission, **more) as process:
            told = process.communicate(timeout=limit(60))[1]
        return process.returncode, told

    def attempts(self, name: str = "a") -> list[Attempt]:
        return read_states(self.plan)[name]

    def requeued(self) -> list[str]:
        path = self.plan.folder / "requeued"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / 'it\'s "é" $(id)'
    place.mkdir()
    return place


def test_a_node_that_ends_well_is_done_and_not_run_twice(folder: Path) -> None:
    task = Task(plan(folder, node("z", "exit 1"), node("a", "echo x >> ran; echo out; pwd >&2")))
    assert task.run(1) == (0, "")
    [attempt] = task.attempts()
    assert (attempt.host, attempt.job, attempt.status) == ("n1", "12_0", 0)
    assert attempt.ended is not None
    assert abs(attempt.ended / 1e6 - time.time()) < 60
    assert task.run(1) == (0, "")
    assert (folder / "ran").read_text() == "x\n"
    assert (folder / "submitted/logs/a.out").read_text() == "out\n"
    assert (folder / "submitted/logs/a.err").read_text() == f"{folder}\n"
    assert task.run(2) == (1, "jobsight: no node has place 2\n")


def test_a_failure_is_queued_again_so_often(folder: Path) -> None:
    task = Task(plan(folder, node("a", "exit 3", retries=2)))
    assert [task.run()[0] for _ in range(3)] == [3, 3, 3]
    assert task.requeued() == ["requeue 12_0", "requeue 12_0"]
    assert [one.final for one in task.attempts()] == [False, False, True]
    (folder / "submitted/slurm/token").write_text(f"{task.digest}/2\n")
    task.run(submission=2)
    assert len(task.requeued()) == 3
    assert task.attempts()[-1].submission == 2


def test_85_starts_again_at_once_but_not_for_ever(folder: Path) -> None:
    task = Task(plan(folder, node("a", "exit 85", checkpoints=True, retries=5)))
    assert task.run()[0] == 85
    assert len(task.attempts()) == 20
    assert task.requeued() == []
    assert task.attempts()[-1].cause == "asked to be started again 20 times without progress"
    assert task.attempts()[-1].final
    plain = Task(plan(folder, node("b", "exit 85")))
    assert plain.run()[0] == 85
    assert [one.final for one in plain.attempts("b")] == [True]


SAVES = "trap 'exit 85' USR1; touch ready; while :; do /bin/sleep 0.05; done"


def _when_ready(task: Task, number: int) -> int:
    with task.start() as process:
        until((task.plan.folder / "ready").exists)
        process.send_signal(number)
        process.communicate(timeout=limit(30))
    return process.returncode


def test_told_to_save_it_is_queued_again(folder: Path) -> None:
    program = Program(("bash", "-c"))
    task = Task(plan(folder, node("a", SAVES, checkpoints=True), program=program))
    assert _when_ready(task, signal.SIGUSR1) == 85
    assert task.requeued() == ["requeue 12_0"]
    assert not task.attempts()[-1].final


def test_singularity_serves_where_there_is_no_apptainer(folder: Path) -> None:
    """And signals reach what runs in it."""
    program = Program(("bash", "-c"), image="x.sif")
    task = Task(plan(folder, node("a", SAVES, checkpoints=True), program=program))
    fake = folder / "tools/singularity"
    fake.write_text('#!/bin/bash\necho "$1" > asked\nexec "${@: -3}"\n')
    fake.chmod(0o755)
    task.environment["PATH"] = f"{folder}/tools:/usr/bin:/bin"
    if shutil.which("apptainer", path=task.environment["PATH"]):
        pytest.skip("this machine has Apptainer")
    assert _when_ready(task, signal.SIGUSR1) == 85
    assert (folder / "asked").read_text() == "exec\n"
    assert task.requeued() == ["requeue 12_0"]


def test_told_before_it_could_listen_nothing_is_lost(folder: Path) -> None:
    deaf = "touch ready; exec /bin/sleep 60"
    task = Task(plan(folder, node("a", deaf, checkpoints=True)))
    assert _when_ready(task, signal.SIGUSR1) == 85
    assert task.requeued() == ["requeue 12_0"]


def test_told_to_end_it_does_not_come_back(folder: Path) -> None:
    deaf = "touch ready; exec /bin/sleep 60"
    task = Task(plan(folder, node("a", deaf, checkpoints=True, retries=3)))
    assert _when_ready(task, signal.SIGTERM) == 143
    assert task.requeued() == []
    assert task.attempts()[-1].cause == "stopped"


def test_a_controller_that_refuses_is_told_of(folder: Path) -> None:
    task = Task(plan(folder, node("a", "exit 3", retries=1)))
    status, told = task.run(REQUEUE_STATUS="1")
    assert status == 3
    assert told == "jobsight: it cannot be queued again; submit the plan again\n"


def test_another_submission_or_folder_is_none_of_its_business(folder: Path) -> None:
    task = Task(plan(folder, node("a", "touch ran")))
    status, told = task.run(submission=2)
    assert status == 1
    assert "the plan was submitted again, or its folder is not seen as" in told
    assert not (folder / "ran").exists()


def test_nothing_is_done_that_cannot_be_told(folder: Path) -> None:
    task = Task(plan(folder, node("a", "touch ran")))
    (folder / "submitted/state/a.jsonl").mkdir()
    status, told = task.run()
    assert status == 1
    assert "Is a directory" in told
    assert not (folder / "ran").exists()
    assert not done(task.attempts())
