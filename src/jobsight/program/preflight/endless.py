"""JS307, JS308: what does not end by itself, and so is not a job."""

from __future__ import annotations

from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Source

__all__ = ["NOT_A_JOB"]

NOT_A_JOB = frozenset({"JS307", "JS308"})
"""Findings that say that what was checked is not a job."""


def _parts(job: Job, fix: str, *, server: bool) -> Iterator[Hit]:
    for part in job.endless:
        if part.server == server:
            message = f"{part.reason}: it runs into the time limit"
            yield hit(part.line, message, fix, source=Source(part.file, ""))


@rule(
    "JS307 A loop that nothing ends",
    fails="#SBATCH --time=10\nwhile true; do\n  date\n  sleep 60\ndone\n",
    passes="#SBATCH --time=10\nwhile true; do\n  [ -f done ] && break\n  sleep 60\ndone\n",
)
def _endless_loops(job: Job) -> Iterator[Hit]:
    """Always true, with nothing in it that leaves it: it runs into the time limit."""
    yield from _parts(job, "break, or a condition", server=False)


@rule(
    "JS308 A server, which does not end by itself",
    fails="#SBATCH --time=10\npython3 -m http.server 8000\n",
    passes="#SBATCH --time=10\npython3 -m http.server 8000 &\ncurl -s localhost:8000\nkill $!\n",
)
def _servers(job: Job) -> Iterator[Hit]:
    """Known servers in the foreground; ``sleep infinity``, ``tail -f``; questions to the user."""
    yield from _parts(job, "start it in the background, and stop it at the end", server=True)
