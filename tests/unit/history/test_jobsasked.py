"""What options of sbatch ask for."""

import pytest

from jobsight.errors import UsageError
from jobsight.history.jobsasked import requested

SCRIPT = """#!/bin/bash
#SBATCH --job-name=align --mail-type END
#SBATCH -c 2 --mem=4G   # enough
#SBATCH --time 1-00:00:00
echo hi
#SBATCH --mem=9G
"""


def test_options_of_the_call_go_before_those_of_the_script() -> None:
    found = requested(SCRIPT)
    assert found["name"] == "align" and found["time_limit_s"] == 86_400
    assert (found["request_cpus"], found["request_memory_mb"]) == (2, 4096)
    assert (found["request_nodes"], found["request_gpus"], found["partition"]) == (1, None, None)
    found = requested(SCRIPT, ["-t", "30", "--mem-per-cpu=3000", "-J", "x", "-p", "gpu", "in.txt"])
    assert found["name"] == "x" and found["time_limit_s"] == 1800 and found["partition"] == "gpu"
    assert found["request_memory_mb"] == 6000


@pytest.mark.parametrize(
    ("options", "column", "value"),
    [
        ("-N 2 --mem 1G", "request_memory_mb", 2048),
        ("-N 2-4", "request_nodes", 2),
        ("-n 8 -c 2", "request_cpus", 16),
        ("-N 2 --ntasks-per-node=4", "request_cpus", 8),
        ("--gres gpu:2", "request_gpus", 2),
        ("--gres=gpu", "request_gpus", 1),
        ("--gres=nvme:1,gpu:a100:3 -N 2", "request_gpus", 6),
        ("--gres=nvme:1", "request_gpus", None),
        ("-G a100:4", "request_gpus", 4),
        ("--gpus-per-node=2 --nodes=3", "request_gpus", 6),
        ("-t UNLIMITED", "time_limit_s", -1),
        ("-t 2:00:00", "time_limit_s", 7200),
        ("", "request_cpus", 1),
    ],
)
def test_requests_are_for_the_whole_job(options: str, column: str, value: object) -> None:
    assert requested("#!/bin/sh\n", options.split())[column] == value


@pytest.mark.parametrize(
    "options", ["--mem lots", "-t soon", "-c x", "-N", "--gpus=a:b", "-t none"]
)
def test_values_that_cannot_be_read_are_refused(options: str) -> None:
    with pytest.raises(UsageError, match="sbatch options: "):
        requested("", options.split())
    with pytest.raises(UsageError, match="not closed"):
        requested("#SBATCH --comment='x\n")
