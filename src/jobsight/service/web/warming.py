"""What is made before it is asked for, so that requests find it ready."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from jobsight.errors import JobsightError
from jobsight.program.preflight.check import Checker
from jobsight.questions import QUESTIONS
from jobsight.service.web.asking import (
    about_script,
    held_groups,
    new_holds,
    pending_rows,
    state_counts,
)

if TYPE_CHECKING:
    from jobsight.service.web.ready import Ready
    from jobsight.store.base import Store

__all__ = ["warm_up"]

_DAY = 24
_SCRIPT = "#!/bin/bash\n#SBATCH --time=10\npython3 fit.py\n"


def warm_up(ready: Ready, store: Store, *, first: bool) -> None:
    """Make what most requests need; the first time all models are opened, kernels compiled."""
    steps: list[Callable[[], object]] = [
        partial(held_groups, ready, None),
        ready.index_all,
        partial(pending_rows, ready, store, None),
        partial(new_holds, ready, None, _DAY),
        partial(state_counts, ready, None),
    ]
    if first:
        steps += [
            partial(about_script, ready, name, "run.sh", _SCRIPT, (), "") for name in QUESTIONS
        ]
        steps += [lambda: Checker(None, (), ()).sent("run.sh", _SCRIPT)]
    for step in steps:
        with contextlib.suppress(JobsightError):  # reported to the caller that needs it
            step()
