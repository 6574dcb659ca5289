"""Jobsight that acts through HTCondor's own policy: `jobsight acting run` next to the pool."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from jobsight.acting.condor.installing import POLICY, file_texts
from jobsight.settings import ActingSettings
from tests.testbed import HtcondorPool

__all__ = ["Acting", "acting_with"]

Acting = Callable[[HtcondorPool, Path], AbstractContextManager[None]]
"""From a pool, and the folder of the run, to what acts in the block."""
_QUICK = ActingSettings(every=2, renew=10, valid=30)
"""In the time scale of the trial."""


def acting_with(model: str) -> Acting:
    """What writes the answers of a model (a folder, or ``none``), and lets the policy act."""
    return partial(_acting, model)


@contextlib.contextmanager
def _acting(model: str, pool: HtcondorPool, folder: Path) -> Iterator[None]:
    pool.configure(file_texts(_QUICK)[POLICY].splitlines())
    own = (folder / "acting").resolve()
    settings = {
        "condor": {"bin": str(pool.tools_as("condor"))},
        "acting": {**_QUICK.model_dump(mode="json"), "mode": "enforce", "folder": str(own)},
    }
    own.mkdir(parents=True, exist_ok=True)
    file = own / "settings.yaml"
    file.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "jobsight", "acting", "run", "--config", str(file)]
    command += ["--log", str(pool.event_log), "--model", model]
    with (own / "log").open("w") as log, subprocess.Popen(command, stderr=log) as loop:
        try:
            yield
        finally:
            loop.terminate()
            loop.wait(30)
