"""``python -m corpus.check.verify [--beds] [NAME ...]``: is what the manifest says true?

README.md here explains the ways of verifying. ``--beds`` starts the test bed
(docs/develop/testbed.md).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from corpus.check.manifest import Job, jobs
from corpus.check.running import run, runs_here

__all__ = ["contradiction", "main", "run_locally"]

_LIMIT = 30.0
_HANGS = 4.0
_Outcomes = dict[tuple[str, str], tuple[int, str]]


def contradiction(job: Job, status: int, said: str) -> str:
    """What was said if it contradicts the manifest, else nothing."""
    failed = bool(re.search(job.shows, said)) if job.shows else status != 0
    return "" if failed != job.sound else f"status {status}: {said.strip()[-500:] or '(silent)'}"


def run_locally(chosen: Sequence[Job]) -> _Outcomes:
    """Status and output by path and way, of jobs that can be run here; two run at a time."""
    able = [job for job in chosen if "run" in job.verified and runs_here(job)]
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda job: run(job, _HANGS if "TIMEOUT" in job.shows else _LIMIT), able)
        return {(job.path, "run"): one for job, one in zip(able, said, strict=True)}


def main(arguments: Sequence[str]) -> int:
    """Verify the jobs whose paths contain one of the names, or all; 1: the manifest is wrong."""
    names = [word for word in arguments if word != "--beds"] or [""]
    chosen = [job for job in jobs() if any(name in job.path for name in names)]
    outcomes = run_locally(chosen)
    if "--beds" in arguments:
        from corpus.check.beds import ask_beds

        outcomes |= ask_beds(chosen)
    counts: Counter[str] = Counter()
    for job in chosen:
        for way in job.verified:
            said = outcomes.get((job.path, way))
            wrong = contradiction(job, *said) if said else ""
            counts[f"{way}: {'wrong' if wrong else 'as said' if said else 'not run'}"] += 1
            if wrong:
                print(f"{job.path} ({way}): {wrong}")
    print("\n".join(f"{name} {count}" for name, count in sorted(counts.items())))
    return int(any("wrong" in name for name in counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
