"""``python -m corpus.check.verify [--beds] [NAME ...]``: is what the manifest says true?

Sound jobs must succeed in every way of the manifest, faulty ones must fail:

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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from corpus.check.manifest import Job, jobs
from corpus.check.running import lacks, run

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
    able = [job for job in chosen if "run" in job.verified and not lacks(job)]
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda job: run(job, _HANGS if "TIMEOUT" in job.shows else _LIMIT), able)
        return {(job.path, "run"): one for job, one in zip(able, said, strict=True)}


def _on_beds(chosen: Sequence[Job]) -> _Outcomes:
    """The same, of the ways that need a scheduler."""
    from tests.testbed.condor import HtcondorPool

    from corpus.check.beds import CheckCluster, pool_outcomes, sbatch

    with CheckCluster() as cluster:
        asked = [job for job in chosen if "sbatch" in job.verified]
        found = {(job.path, "sbatch"): sbatch(cluster, job) for job in asked}
    sent = [job for job in chosen if job.scheduler == "htcondor" and "read" not in job.verified]
    with HtcondorPool() as pool:
        outcomes = pool_outcomes(pool, sent)
    return found | {(job.path, job.verified[0]): outcomes[job.path] for job in sent}


def main(arguments: Sequence[str]) -> int:
    """Verify the jobs whose paths contain one of the names, or all; 1: the manifest is wrong."""
    names = [word for word in arguments if word != "--beds"] or [""]
    chosen = [job for job in jobs() if any(name in job.path for name in names)]
    outcomes = run_locally(chosen) | (_on_beds(chosen) if "--beds" in arguments else {})
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
