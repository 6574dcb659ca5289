"""`python -m tests.testbed [up | build | clean]`: the test bed by hand."""

import contextlib
import shutil
import signal
import sys
from collections.abc import Sequence

from tests.testbed.condor import EventLogOptions, HtcondorPool
from tests.testbed.errors import BedError, Unavailable
from tests.testbed.kafka import KafkaBroker
from tests.testbed.redis import RedisServer
from tests.testbed.roots import RECIPES, cache_folder, root
from tests.testbed.slurm import SlurmCluster

__all__ = ["main"]

_USAGE = """usage: python -m tests.testbed [up | build | clean]
  up      start everything, say how to use it, stay until Ctrl-C (the default)
  build   only build the roots that it runs in
  clean   remove the roots that were built
"""
_GUIDE = """
An HTCondor pool with the sites ALPHA and BETA, Slurm 24.11 with accounting, Redis and a Kafka
broker are running. In another terminal:

  export PATH={condor}:{slurm}:$PATH
  export JOBSIGHT_STORE={store}

  condor_submit, condor_q, condor_history, sbatch, squeue, sacct, scontrol … now ask these clusters.
  Those that act do so as alice; JOBSIGHT_TESTBED_USER=bob or =root names another user.
  Put files for jobs into {condor_work} or {slurm_work}.

  event log        {event_log}
  document store   {store}
  Kafka broker     {broker}   (jobcomp/kafka writes ended Slurm jobs to the topic "testbed")

  Break transfers of testbed://ORIGIN/NAME at a site (mend them by removing the file):
      echo '{{"status": 3, "message": "origin is down"}}' > {faults}/ALPHA/ORIGIN

Ctrl-C stops everything and removes it.
"""


def _up() -> None:
    """Start everything and stay."""
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(KafkaBroker())
        attributes = ("Owner", "RequestMemory", "RequestCpus", "NumJobStarts")
        options = EventLogOptions(max_rotations=3, attributes=attributes)
        pool = stack.enter_context(HtcondorPool(event_log_options=options))
        cluster = stack.enter_context(SlurmCluster(kafka=broker.bootstrap))
        server = stack.enter_context(RedisServer())
        guide = _GUIDE.format(
            condor=pool.bin, slurm=cluster.bin, store=server.url, event_log=pool.event_log,
            condor_work=pool.folder / "work", slurm_work=cluster.folder / "work",
            broker=broker.bootstrap, faults=pool.folder / "faults",
        )  # fmt: skip
        sys.stdout.write(guide)
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                signal.pause()
    sys.stdout.write("\nstopped\n")


def _build() -> None:
    for name in RECIPES:
        sys.stdout.write(f"{root(name)}\n")


def _clean() -> None:
    shutil.rmtree(cache_folder(), ignore_errors=True)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Do what is asked; 0, or 1 with one line that says why not, or 2 for a wrong call."""
    verbs = {"up": _up, "build": _build, "clean": _clean}
    asked = list(arguments) or ["up"]
    if len(asked) != 1 or asked[0] not in verbs:
        sys.stderr.write(_USAGE)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        verbs[asked[0]]()
    except (Unavailable, BedError) as error:
        sys.stderr.write(f"testbed: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("testbed: interrupted\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
