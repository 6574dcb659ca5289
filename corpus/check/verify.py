"""``python -m corpus.check.verify [--beds] [NAME ...]``: is what the manifest says true?

Sound jobs must succeed in every way of the manifest, faulty ones must fail in one:

- run: the script runs on this machine, in a fresh folder, without a network, with the variables
  that Slurm sets; stand-ins replace srun, sbatch, module and programs that the manifest names;
- sbatch: a real Slurm is asked (``sbatch --test-only``) whether it takes the directives;
- pool: a real HTCondor pool gets the job or DAG, and runs it;
- dry: ``condor_submit -dry-run`` only, for what the pool cannot run;
- read: by reading, where running would harm, or what happens cannot be seen in a short run.

sbatch, pool and dry need ``--beds``, which starts the test bed (docs/testbed.md).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from corpus.check.manifest import Job, jobs
from corpus.check.running import lacks, run

__all__ = ["contradiction", "main", "run_locally"]

_LIMIT = 30.0
_HANGS = 4.0


def contradiction(job: Job, status: int, said: str) -> str:
    """Where what happened contradicts the manifest: what was said; empty where it does not."""
    failed = status != 0
    if job.shows:
        failed = re.search(job.shows, said) is not None
    return "" if failed != job.sound else f"status {status}: {said.strip()[-500:] or '(silent)'}"


def run_locally(job: Job) -> tuple[str, str]:
    """``(outcome, words)``: outcome is ok, wrong or skipped."""
    if reason := lacks(job):
        return "skipped", reason
    wrong = contradiction(job, *run(job, _HANGS if "TIMEOUT" in job.shows else _LIMIT))
    return ("wrong", wrong) if wrong else ("ok", "")


def _on_beds(chosen: Sequence[Job]) -> dict[tuple[str, str], tuple[str, str]]:
    """Outcomes by path and way, of the ways that need a scheduler."""
    from tests.testbed.condor import HtcondorPool

    from corpus.check.beds import CheckCluster, pool_outcomes, sbatch

    found = {}
    with CheckCluster() as cluster:
        for job in chosen:
            if "sbatch" in job.verified:
                found[job.path, "sbatch"] = sbatch(cluster, job)
    with HtcondorPool() as pool:
        sent = [job for job in chosen if {"pool", "dry"} & set(job.verified)]
        for path, outcome in pool_outcomes(pool, sent).items():
            found[path, "pool"] = found[path, "dry"] = outcome
    ways: dict[tuple[str, str], tuple[str, str]] = {}
    for job in chosen:
        for way in job.verified:
            if (job.path, way) in found:
                wrong = contradiction(job, *found[job.path, way])
                ways[job.path, way] = ("wrong", wrong) if wrong else ("ok", "")
    return ways


def main(arguments: Sequence[str]) -> int:
    """Verify the jobs whose paths contain one of the names, or all; 1: the manifest is wrong."""
    names = [word for word in arguments if not word.startswith("-")]
    chosen = [job for job in jobs() if not names or any(name in job.path for name in names)]
    beds: Mapping[tuple[str, str], tuple[str, str]] = {}
    if "--beds" in arguments:
        beds = _on_beds(chosen)
    local = [job for job in chosen if "run" in job.verified]
    with ThreadPoolExecutor(2) as pool:
        ran = dict(zip((job.path for job in local), pool.map(run_locally, local), strict=True))
    counts: Counter[str] = Counter()
    for job in chosen:
        for way in job.verified:
            outcome, words = {"run": ran.get(job.path), "read": ("ok", "")}.get(way) or beds.get(
                (job.path, way), ("skipped", "needs --beds")
            )
            counts[f"{way}: {outcome}"] += 1
            if outcome == "wrong":
                print(f"{job.path} ({way}): {words}")
    print("\n".join(f"{name} {count}" for name, count in sorted(counts.items())))
    return int(any(name.endswith("wrong") for name in counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
