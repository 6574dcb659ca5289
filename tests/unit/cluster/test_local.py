import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from jobsight.cluster import Node, Plan, Program, Resources, Stage
from jobsight.cluster.local import Local, processes_of
from jobsight.errors import ClusterError, OutputError


def plan(folder: Path, options: dict[str, Any] | None = None, **asks: int) -> Plan:
    nodes = (Node("a", ("x",), resources=Resources(**asks)),)
    here = {} if options is None else {"here": options}
    return Plan("p", folder, (Stage("s", nodes),), Program(("true",)), shared=True, options=here)


def test_how_many_run_at_once() -> None:
    nowhere = Path("/nowhere")
    assert processes_of(plan(nowhere, {"processes": "7"})) == 7
    assert processes_of(plan(nowhere, memory_mb=1)) == len(os.sched_getaffinity(0))
    assert processes_of(plan(nowhere, cpus=10_000)) == 1
    assert processes_of(plan(nowhere, memory_mb=2**30)) == 1
    assert processes_of(plan(nowhere, gpus=1, memory_mb=1)) == 1
    assert processes_of(plan(nowhere, {"processes": "2"}, gpus=1)) == 2


def test_a_folder_that_is_not_there_or_not_ours(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="there is no folder"):
        Local().submit(plan(tmp_path / "none"))
    (tmp_path / "submitted").write_text("")
    with pytest.raises(OutputError, match="cannot open the lock file"):
        Local().submit(plan(tmp_path))


def test_an_image_needs_apptainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    image = Program(("jobsight",), image="x.sif")
    made = dataclasses.replace(plan(tmp_path), program=image)
    with pytest.raises(ClusterError, match="apptainer is not on the PATH"):
        Local().submit(made)
    near = dataclasses.replace(made.stages[0].nodes[0], near=True)
    program = dataclasses.replace(image, near=("/bin/true",))
    stages = (Stage("s", (near,)),)
    Local().submit(dataclasses.replace(made, stages=stages, program=program))
