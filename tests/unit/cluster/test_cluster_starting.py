"""How nodes are started: words of commands, and the script that unpacks."""

import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jobsight.cluster import Node, Plan, Program, Resources, Stage
from jobsight.cluster.starting import command_of, contained, unpacking, write_start_script

FAR = Node("far", ("run", "1"), inputs=("in", '/log, "x"'))
NEAR = Node("near", ("best",), near=True)


def plan(program: Program, folder: Path = Path("/sweep")) -> Plan:
    return Plan("sweep", folder, (Stage("runs", (FAR, NEAR)),), program, shared=True)


def test_a_near_node_has_a_command_of_its_own() -> None:
    made = plan(Program(("jobsight",), near=("/venv/bin/jobsight",)))
    assert command_of(made, FAR) == ("jobsight", "run", "1")
    assert command_of(made, NEAR) == ("/venv/bin/jobsight", "best")
    assert command_of(plan(Program(("jobsight",))), NEAR) == ("jobsight", "best")


def test_a_container_sees_the_folder_and_what_is_read() -> None:
    made = plan(Program(("jobsight",), image="image.sif"))
    assert contained(made, FAR) == (
        "apptainer", "exec", "--pwd", "/sweep",
        "--mount", 'type=bind,"src=/sweep","dst=/sweep"',
        "--mount", 'type=bind,"src=/log, ""x""","dst=/log, ""x"""',
        "--env", "PYTHONNOUSERSITE=1", "--env", "PYTHONPATH=", "--env", "PYTHONHOME=",
        "image.sif", "jobsight", "run", "1",
    )  # fmt: skip
    own = Program(("jobsight",), image="image.sif", environment={"PYTHONPATH": "/in/it"})
    assert "PYTHONPATH=" not in contained(plan(own), FAR), "it is passed on as it is"
    gpu = Node("gpu", (), resources=Resources(gpus=1))
    assert "--nv" in contained(made, gpu, runner="singularity")
    assert contained(made, NEAR) == ("jobsight", "best")
    assert contained(plan(Program(("jobsight",))), FAR) == ("jobsight", "run", "1")


def test_a_pack_is_unpacked_once_however_many_come(tmp_path: Path) -> None:
    tool = tmp_path / "packed"
    tool.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
    tool.chmod(0o755)
    pack = tmp_path / "it's a $pack.tar.gz"
    with tarfile.open(pack, "w:gz") as archive:
        archive.add(tool, "bin/jobsight-packed")
    made = plan(Program(("jobsight-packed",), pack=pack), tmp_path)
    assert write_start_script(made) == [tmp_path / "submitted/start.sh"]
    words = unpacking(made, FAR, tmp_path / "submitted/a place")
    assert words[0] == "sh"
    assert unpacking(made, NEAR, "x") == command_of(made, NEAR)

    def start(_: int) -> tuple[int, str]:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(start, range(16))) == {(7, "run|1|")}
    assert {path.name for path in tmp_path.iterdir()} == {"packed", "submitted", pack.name}
    assert {path.name for path in (tmp_path / "submitted").iterdir()} == {"a place", "start.sh"}
