"""What jobs ask of HTCondor's slots, and how their scripts end there."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from tests.unit.program.checking import found, written

from jobsight.program.preflight.check import Checker
from jobsight.program.site import Site

_SLOT = "Name = 'slot1@a'\nMemory = {free}\nTotalSlotMemory = 16000\nTotalMemory = 64000\n"
_SLOT += (
    "DetectedMemory = 96000\nCpus = 1\nTotalSlotCpus = 8\nDetectedCpus = 2\nTotalSlotGPUs = 2\n"
)
_SLOT += "GPUs = 2\nDisk = 90000000\nTotalSlotDisk = 90000000.0\n"


def test_an_attribute_that_is_nearly_one_of_the_slots(tmp_path: Path) -> None:
    (tmp_path / "condor_status.ads").write_text(_SLOT.format(free=100))
    text = "executable = /bin/true\nrequirements = {} > 100\nqueue\n"
    site = Site.saved(tmp_path)
    assert found(text.format("Memmory"), "a.sub", site) == [("a.sub", 2, "JS411")]
    assert found(text.format("MyOwnMark"), "a.sub", site) == []


def test_an_image_that_is_a_file_must_be_there() -> None:
    text = "executable = /bin/true\ncontainer_image = {}\nqueue\n"
    assert found(text.format("img.sif"), "a.sub") == [("a.sub", 2, "JS403")]
    assert found(text.format("docker://debian:12"), "a.sub") == []


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ("request_memory = 16 GB", False),
        ("request_memory = 16000", True),
        ("request_memory = 15 GB", True),
        ("request_cpus = 9", False),
        ("request_cpus = 8", True),
        ("request_gpus = 2", True),
        ("request_gpus = 3", False),
        ("request_disk = 80 GB", True),
    ],
)
@pytest.mark.parametrize("free", [16000, 100])
def test_a_slot_has_no_more_than_its_share_of_the_machine(
    asked: str, fits: bool, free: int
) -> None:
    ads = _SLOT.replace("{free}", str(free)).replace("'", '"')
    site = Site.saved(written(Path("site"), "", f"=== condor_status.ads\n{ads}"))
    text = f"executable = /bin/echo\n{asked}\nqueue\n"
    assert found(text, "a.sub", site) == ([] if fits else [("a.sub", 2, "JS411")])


_REMOVED = "on_exit_remove = (ExitBySignal == False) && (ExitCode == 0)"


@pytest.mark.parametrize(
    ("policy", "last", "wrong"),
    [
        (_REMOVED, 'grep -c "not a probe" "$1.problems"', True),
        (_REMOVED, "zgrep -i warning run.log.gz\nexit $?", True),
        (_REMOVED, '[[ -n "$DEBUG" ]] && ls -l', True),
        (_REMOVED, '[ "$2" = verbose ] && cat run.log', True),
        (_REMOVED, "grep -c warning run.log || true", False),
    ],
)
def test_good_runs_that_end_with_1_are_not_tried_again(policy: str, last: str, wrong: bool) -> None:
    script = f"#!/bin/bash\ntouch {{run.log,old.txt,new.txt,out.fa,errors.txt}}\n{last}\n"
    text = f"executable = a.sh\narguments = x\n{policy}\nqueue\n=== a.sh\n{script}"
    assert [one for one in found(text, "a.sub") if one[2] == "JS408"] == (
        [("a.sub", 3, "JS408")] if wrong else []
    )


@pytest.mark.parametrize(
    ("sent", "wrapper", "wrong"),
    [
        ("code/fit.py", "module load python", ["fit.py", "a.sub"]),
        ("code/fit.py, code/lens.py, code/optics", "module load python", []),
        ("code/fit.py, code.tgz", "module load python\ntar xzf code.tgz", []),
        ("code/fit.py", "PYTHONPATH=/apps/lens", []),
    ],
)
@pytest.mark.parametrize("universe", ["vanilla", "container"])
def test_modules_next_to_a_program_of_an_interpreter_that_is_not_known(
    sent: str, wrapper: str, wrong: list[str], universe: str
) -> None:
    text = f"universe = {universe}\ncontainer_image = a.sif\nexecutable = a.sh\n"
    text += f"transfer_input_files = {sent}\nqueue\n=== a.sh\n#!/bin/bash\n{wrapper}\n"
    text += "python3 fit.py\n=== code/fit.py\nimport lens, numpy, emcee\nimport json\n"
    text += "from optics import rays\n=== code/lens.py\n=== code/optics/__init__.py\n"
    text += "=== code/json.py\n=== code.tgz\n=== a.sif\n"
    places = {(PurePosixPath(file).name, code) for file, _, code in found(text, "a.sub")}
    assert {file for file, code in places if code == "JS412"} == {*wrong}
    assert not {file for file, code in places if code in ("JS107", "JS403")}


@pytest.mark.parametrize(
    ("asked", "heavy"),
    [
        ("universe = local\nqueue 8", True),
        ("universe = scheduler\nrequest_memory = 16 GB\nqueue", True),
        ("universe = local\nrequest_cpus = 1\nrequest_memory = 100\nqueue", False),
        ("universe = vanilla\nqueue 100", False),
    ],
)
def test_work_on_the_access_point(asked: str, heavy: bool) -> None:
    wrong = [("a.sub", 1, "JS418")] if heavy else []
    text = asked.replace("queue", "executable = /bin/echo\nqueue")
    assert found(f"{text}\n", "a.sub") == wrong


def test_a_node_of_a_dag_that_ends_with_1() -> None:
    text = "JOB a a.sub\n{post}=== a.sub\nexecutable = a.sh\nqueue\n=== a.sh\n#!/bin/bash\n"
    text += "seq 3 > x.log\ngrep -c error x.log\n=== p.sh\n#!/bin/sh\ntrue\n"
    for post, wrong in (("", [("a.sh", 3, "JS408")]), ("SCRIPT POST a p.sh\n", [])):
        written(Path(), "a.dag", text.replace("{post}", post))
        report = Checker(shellcheck=False).check("a.dag")
        assert [
            (one.file, one.line, one.code) for one in report.findings if one.code == "JS408"
        ] == wrong
