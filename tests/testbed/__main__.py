"""`python -m tests.testbed [up [PIECE...] | build | clean]`: the test bed by hand."""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.testbed.condor import EventLogOptions, HtcondorPool
from tests.testbed.containers import image, need_apptainer, pack_image
from tests.testbed.errors import BedError, Unavailable
from tests.testbed.fixtures import python_folders
from tests.testbed.kafka import KafkaBroker
from tests.testbed.redis import RedisServer
from tests.testbed.roots import RECIPES, cache_folder, root
from tests.testbed.slurm import SlurmCluster

__all__ = ["main"]

_USAGE = """usage: python -m tests.testbed [up [PIECE...] | build | clean]
  up      start everything, or the pieces named (condor, slurm, redis, kafka), say how to use
          it, stay until Ctrl-C (the default)
  build   only build the roots that it runs in
  clean   remove the roots that were built
"""
_HEAD = """
Running now: {running}. In another terminal, in this folder:

  export PATH={path}$PATH{store}
"""
_TOOLS = """
  condor_submit, condor_q, condor_history, sbatch, squeue, sacct, scontrol … now ask these clusters.
  Those that act do so as alice; JOBSIGHT_TESTBED_USER=bob or =root names another user.
"""
_CONDOR = """
  HTCondor, sites ALPHA and BETA; put files for jobs into {work}
  event log  {event_log}
  Break transfers of testbed://ORIGIN/NAME at a site (mend them by removing the file):
      echo '{{"status": 3, "message": "origin is down"}}' > {faults}/ALPHA/ORIGIN
"""
_SLURM = """
  Slurm 24.11 with accounting; put files for jobs into {work}
"""
_REDIS = """
  document store  {url}
"""
_KAFKA = """
  Kafka broker    {address}   (jobcomp/kafka writes ended Slurm jobs to the topic "testbed")
"""
_SWEEP = """
  A sweep on {where}: jobs are alice's, who sees this Python and must own what is planned.
      umask 000; mkdir {work}/sweep; cp data/pool-a.log.gz {work}/sweep
      export JOBSIGHT_REGISTRY={work}/sweep/models
      echo '{{data: [pool-a.log.gz], where: {where}, runs: 2, epochs: 2,
             parameters: {{m: {{min: 4, max: 8}}}}}}' > {work}/sweep/small.yaml
      {python} -m jobsight sweep plan {work}/sweep/small.yaml
      chown -R {owner} {work}/sweep
      {python} -m jobsight sweep submit {work}/sweep/small.yaml
      {python} -m jobsight sweep status {work}/sweep/small.yaml --watch
"""
_IMAGE = """
  The same in containers: add  program: {{image: {file}}}
"""
_NO_SWEEP = """
  Sweeps there need a container image (docs/sweeps.md): jobs do not see this Python in /usr.
"""
_END = """
Ctrl-C stops everything and removes it.
"""
_PIECES = ("condor", "slurm", "redis", "kafka")


def _up(pieces: Sequence[str]) -> None:
    """Start these pieces, or all, and stay."""
    with contextlib.ExitStack() as stack:
        sys.stdout.write(_started(stack, tuple(pieces) or _PIECES))
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                signal.pause()
    sys.stdout.write("\nstopped\n")


def _started(stack: contextlib.ExitStack, pieces: Sequence[str]) -> str:
    """Start pieces, and say how to use them."""
    tools: list[Path] = []
    said: list[str] = []
    store = ""
    broker = stack.enter_context(KafkaBroker()) if "kafka" in pieces else None
    if "condor" in pieces:
        attributes = ("Owner", "RequestMemory", "RequestCpus", "NumJobStarts")
        options = EventLogOptions(max_rotations=3, attributes=attributes)
        bed = HtcondorPool(event_log_options=options, shows=python_folders())
        pool = stack.enter_context(bed)
        work = pool.folder / "work"
        faults = pool.folder / "faults"
        tools.append(pool.bin)
        said += [_CONDOR.format(work=work, event_log=pool.event_log, faults=faults)]
        said.append(_sweep("dagman", pool))
    if "slurm" in pieces:
        address = None if broker is None else broker.bootstrap
        cluster = stack.enter_context(SlurmCluster(kafka=address, shows=python_folders()))
        work = cluster.folder / "work"
        tools.append(cluster.bin)
        said += [_SLURM.format(work=work), _sweep("slurm", cluster)]
    if "redis" in pieces:
        url = stack.enter_context(RedisServer()).url
        store = f"\n  export JOBSIGHT_STORE={url}"
        said.append(_REDIS.format(url=url))
    if broker is not None:
        said.append(_KAFKA.format(address=broker.bootstrap))
    path = "".join(f"{one}{os.pathsep}" for one in tools)
    head = _HEAD.format(running=", ".join(pieces), path=path, store=store)
    return "".join([head, *([_TOOLS] if tools else []), *said, _END])


def _sweep(where: str, bed: HtcondorPool | SlurmCluster) -> str:
    """How a sweep is tried there."""
    if not python_folders():
        return _NO_SWEEP
    owner = ":".join(map(str, bed.namespace.users["alice"]))
    work = bed.folder / "work"
    said = _SWEEP.format(where=where, work=work, owner=owner, python=sys.executable)
    try:
        need_apptainer()
    except Unavailable as error:
        return f"{said}\n  In containers it cannot be run: {error}\n"
    file = pack_image(bed.namespace, image(work / "image"), work / "image.sif")
    return said + _IMAGE.format(file=file)


def _build() -> None:
    for name in RECIPES:
        sys.stdout.write(f"{root(name)}\n")


def _clean() -> None:
    shutil.rmtree(cache_folder(), ignore_errors=True)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Do what is asked; 0, or 1 with one line that says why not, or 2 for a wrong call."""
    verbs = {"build": _build, "clean": _clean}
    verb, *pieces = list(arguments) or ["up"]
    if not (verb == "up" and set(pieces) <= set(_PIECES)) and (verb not in verbs or pieces):
        sys.stderr.write(_USAGE)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if verb == "up":
            _up(pieces)
        else:
            verbs[verb]()
    except (Unavailable, BedError) as error:
        sys.stderr.write(f"testbed: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("testbed: interrupted\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
