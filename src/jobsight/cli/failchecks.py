"""What `jobsight check` finds from history: read once, by `fail` compared with each job checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jobsight.questions.fail.checks  # noqa: F401  # its rules are registered
from jobsight.history.jobsasked import request_columns
from jobsight.program.preflight.condorjob import CondorJob
from jobsight.program.preflight.job import Job

if TYPE_CHECKING:
    from jobsight.questions.fail.priorruns import PriorRuns
    from jobsight.settings import Settings

__all__ = ["open_history"]


def open_history(settings: Settings, files: list[str], *, named: bool) -> PriorRuns:
    """The runs of the caller's jobs.

    Args:
        settings: of the call.
        files: of importers.
        named: the call names a store.

    Raises:
        JobsightError: nothing can be read.
    """
    from jobsight.answering.jobtables import script_row
    from jobsight.cli.asking import own_store
    from jobsight.cli.common import caller
    from jobsight.cli.reading import read_for
    from jobsight.questions.fail.priorruns import PriorRuns, Texts
    from jobsight.questions.fail.question import FAIL

    inputs = [*files, own_store(settings, named=named)] if named else files
    texts = Texts(caller())
    jobs, _, _ = read_for(FAIL, inputs, settings, texts.add)

    def row(job: Job | CondorJob) -> dict[str, Any]:
        if isinstance(job, Job):
            request = request_columns(job.submission)
            return script_row(jobs, settings, job.path, job.source.text, request, texts.owner)
        return {**job.columns(), "scheduler": "htcondor", "owner": texts.owner}

    return PriorRuns(jobs, texts, row)
