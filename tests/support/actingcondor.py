"""A pool of the test bed whose access point has the policy file, and `jobsight acting` there."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jobsight.acting.condor.installing import POLICY, file_texts
from jobsight.settings import ActingSettings, CondorSettings
from tests.testbed.condor import HtcondorPool
from tests.testbed.fixtures import python_folders

__all__ = ["QUICK", "VALID", "command", "condor_of", "pool_with_policy", "run"]

VALID = 20
QUICK = ActingSettings(every=1, renew=4, valid=VALID)
_numbers = itertools.count()


@contextmanager
def pool_with_policy(settings: ActingSettings = QUICK) -> Iterator[HtcondorPool]:
    """A pool whose access point has the policy file, with these settings."""
    with HtcondorPool(shows=python_folders()) as pool:
        (pool.folder / "etc/condor" / POLICY).write_text(file_texts(settings)[POLICY])
        pool.configure([f"include : /etc/condor/{POLICY}"])
        yield pool


def condor_of(pool: HtcondorPool, user: str = "condor", **more: Any) -> CondorSettings:
    """Tools that run as this user."""
    return CondorSettings(bin=pool.tools_as(user), **more)


def command(pool: HtcondorPool, *words: str, **acting: Any) -> list[str]:
    """A command line of ``jobsight`` that acts in the pool."""
    settings = {
        "condor": {"bin": str(condor_of(pool).bin)},
        "eventlog": {"paths": [str(pool.event_log)]},
        "acting": {**QUICK.model_dump(mode="json"), "folder": str(pool.folder / "cli"), **acting},
    }
    file = pool.folder / f"settings-{next(_numbers)}.yaml"
    file.write_text(json.dumps(settings))
    return [sys.executable, "-m", "jobsight", *words, "--config", str(file)]


def run(pool: HtcondorPool, *words: str, **acting: Any) -> str:
    """What such a command prints; it must succeed."""
    folders = {f"XDG_{name}_HOME": str(pool.folder / name.lower()) for name in ("DATA", "CACHE")}
    environment = {**os.environ, **folders}
    line = command(pool, *words, **acting)
    return subprocess.run(line, env=environment, check=True, capture_output=True, text=True).stdout
