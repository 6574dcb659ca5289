"""Job ids as users and schedulers write them.

HTCondor prints ``123.4`` in its tools and ``(123.004.000)`` in its logs; a bare ``123`` names the
whole cluster. Procs may have more than three digits.
"""

import re
from typing import NamedTuple

from jobsight.errors import UsageError

__all__ = ["JobId", "parse_job_id"]

_FORM = re.compile(r"\(?(\d{1,18})(?:\.(\d{1,18}))?(?:\.\d{1,18})?\)?", re.ASCII)


class JobId(NamedTuple):
    """An HTCondor job: its cluster, and its proc or None for every job of the cluster."""

    cluster: int
    proc: int | None

    def __str__(self) -> str:
        return str(self.cluster) if self.proc is None else f"{self.cluster}.{self.proc}"


def parse_job_id(text: str) -> JobId:
    """Read ``123``, ``123.4`` or ``(123.004.000)``.

    Raises:
        UsageError: the text is no HTCondor job id, or one that no scheduler could give.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None or int(found[1]) >= 2**31 or (found[2] and int(found[2]) >= 2**31):
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise UsageError(f"{shown!r} is not an HTCondor job id; write it as 123.4 or 123")
    return JobId(int(found[1]), None if found[2] is None else int(found[2]))
