"""Numbers of tasks that a script computes, against those that it asks for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.program.checking import written

from jobsight.program.preflight.check import Checker
from jobsight.program.site import Site

SLURM = "#!/bin/bash\n#SBATCH --mem=1G --time=10 {asked}\n"
NODES = "--nodes=2 --ntasks-per-node=12"
_GROWING = "".join(f"{name}={'$b$c$d' * 30}\n" for name in "abcd")


def found(text: str) -> list[tuple[str, int, str]]:
    report = Checker(shellcheck=False).check(str(written(Path(), "job.sh", text) / "job.sh"))
    return [(one.severity, one.line, one.code) for one in report.findings]


@pytest.mark.parametrize(
    ("asked", "script", "wrong"),
    [
        (NODES, 'RANKS=$(( SLURM_NNODES * 24 ))  # all\nmpirun -np "$RANKS" ./a', 4),
        (NODES, "N=$((SLURM_NNODES * 12))\nmpirun -np $N ./a", None),
        (NODES, f"{_GROWING}srun -n $a ./a", None),
    ],
)
def test_computed_numbers_of_tasks(
    asked: str, script: str, wrong: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"{SLURM.replace('{asked}', asked)}{script}\n"
    assert [one for one in found(text) if one[2] == "JS207"] == (
        [("error", wrong, "JS207")] if wrong else []
    )


@pytest.mark.parametrize(
    ("script", "fix"),
    [
        ("#SBATCH --mem=1G", "#SBATCH --mem=12G"),
        ("#SBATCH --mem=10000M", "#SBATCH --mem=12G"),
        (
            "#SBATCH --mem=1G --partition=small",
            "allocate less: no node known has more than 9,000 MB",
        ),
        ("#SBATCH --mem=1G --partition=capped", "#SBATCH --mem=10500M"),
    ],
)
def test_what_is_proposed_fits_a_node(script: str, fix: str) -> None:
    site = """=== scontrol-partition.txt
PartitionName=large Default=YES State=UP
PartitionName=small State=UP
PartitionName=capped State=UP MaxMemPerNode=10500
=== scontrol-node.txt
NodeName=a CPUTot=4 RealMemory=64000 Partitions=large,capped
NodeName=b CPUTot=4 RealMemory=9000 Partitions=small
"""
    text = f"#!/bin/bash\n{script} --time=10\npython3 -c 'x = bytearray(10_500 * 2**20)'\n"
    known = Site.saved(written(Path("site"), "", site))
    checker = Checker(site=known, shellcheck=False)
    report = checker.check(str(written(Path(), "job.sh", text) / "job.sh"))
    assert [one.fix for one in report.findings if one.code == "JS210"] == [fix]


def test_rights_are_those_of_the_user_who_asks() -> None:
    Path("logs").mkdir(mode=0o555)
    allowed = os.access("logs", os.W_OK)  # root may write there
    text = SLURM.format(asked="--output=logs/%j.out") + "sort /etc/passwd\n"
    assert found(text) == ([] if allowed else [("error", 2, "JS105")])
