"""Job ids as users and schedulers write them.

HTCondor prints ``123.4`` in its tools and ``(123.004.000)`` in its logs; Slurm prints ``123``,
``123_4``, ``123+1``, and ``123.batch`` for a step. The second job to which Slurm gave a number is
``123@2`` here. A bare ``123`` names all jobs of that number. A
document's id has the place before the job: ``htcondor:ap40:123.4``.
"""

import re
from typing import NamedTuple

from jobsight.errors import UsageError
from jobsight.text import printable

__all__ = ["JobId", "JobName", "parse_job_id", "parse_job_name"]

_NAME = re.compile(
    r"(?:(?P<place>(?:htcondor|slurm):[^:]+):)?"
    r"(?:(?P<open>\()?(?P<cluster>\d{1,18})\.(?P<proc>\d{1,18})(?(open)(?:\.\d{1,18})?\))"
    r"|(?P<job>(?:\d{1,18}(?:_(?:\d{1,18}|\[[\d,\-:%]+\]))?(?:\+\d{1,9})?(?:@\d{1,6})?|s[0-9A-Za-z]{13}))"
    r"(?:\.(?:batch|extern|interactive))?)",
    re.ASCII,
)


class JobName(NamedTuple):
    """What a user calls a job, or all jobs of a number.

    Attributes:
        place: ``htcondor:ap40``, as ids of documents begin; None: any.
        job: ``123.4``, ``123_4``, or ``123``.
    """

    place: str | None
    job: str

    def __str__(self) -> str:
        return self.job if self.place is None else f"{self.place}:{self.job}"

    @property
    def number(self) -> str:
        """The number without proc, task, component or ``@``."""
        return re.split(r"[._+@]", self.job, maxsplit=1)[0]


class JobId(NamedTuple):
    """An HTCondor job: its cluster, and its proc or None for every job of the cluster."""

    cluster: int
    proc: int | None

    def __str__(self) -> str:
        return str(self.cluster) if self.proc is None else f"{self.cluster}.{self.proc}"


def parse_job_name(text: str) -> JobName:
    """Read any form of a job id; `UsageError`: the text is not a job id of any form."""
    found = _NAME.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{printable(text, 40)!r} is not a job id; write 123.4, 123_4, 123, or a whole one "
            "such as slurm:mycluster:123"
        )
    job = found["job"] or f"{int(found['cluster'])}.{int(found['proc'])}"
    return JobName(found["place"], job)


def parse_job_id(text: str) -> JobId:
    """Read ``123``, ``123.4`` or ``(123.004.000)``.

    Raises:
        UsageError: the text is not an HTCondor job id, or one that no schedd could give.
    """
    job = parse_job_name(text).job
    cluster, _, proc = job.partition(".")
    if not cluster.isdecimal() or max(int(cluster), int(proc or 0)) >= 2**31:
        raise UsageError(
            f"{printable(text, 40)!r} is not an HTCondor job id; write it as 123.4 or 123"
        )
    return JobId(int(cluster), int(proc) if proc else None)
