"""What a batch script asks for, in columns of the job table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobsight.errors import UsageError
from jobsight.program.submission.job import Submission
from jobsight.program.submission.sbatch import read_sbatch

__all__ = ["request_columns", "requested"]


def requested(script: str, options: Sequence[str] = ()) -> dict[str, Any]:
    """The request of a batch script in columns of the job table; those it does not name are null.

    Options of the call go before those of the script. Without an option for it, a job asks for one
    CPU for each task, one task and one node; its name is left out.

    Args:
        script: its text.
        options: as given to sbatch after the script.

    Raises:
        UsageError: the value of an option cannot be read.
    """
    job = read_sbatch(script, options)
    refused = next((one for one in job.problems if one.kind == "value"), None)
    if refused is not None:
        raise UsageError(f"sbatch options: {refused.message}; {refused.fix or 'give one'}")
    return request_columns(job)


def request_columns(job: Submission) -> dict[str, Any]:
    """What sbatch is asked for, see `requested`."""
    request = job.request
    return {
        "name": job.value("job-name"),
        "partition": job.value("partition"),
        "account": job.value("account"),
        "qos": job.value("qos"),
        "work_dir": job.value("chdir"),
        "request_cpus": request.cpus,
        "request_nodes": request.nodes,
        "request_gpus": request.gpus,
        "request_memory_mb": request.memory_mb,
        "time_limit_s": request.time_s,
    }
