"""The W&B SDK in a process of its own, asked in bounded time: see `sdk`."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobsight.errors import SweepError, UsageError
from jobsight.files import without_nan

__all__ = ["SdkError", "SdkProcess", "create_sweep", "next_point", "require_sdk"]

_PASSED_ON = frozenset(
    {"WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_IDENTITY_TOKEN_FILE", "WANDB_CREDENTIALS_FILE"}
    | {"WANDB_INSECURE_DISABLE_SSL", "WANDB_CONFIG_DIR"}
)
"""Who the user is and where the server is; everything else is decided by the sweep's config."""

_MOST_ANSWER = 1 << 20
_GRACE = 2.0


class SdkError(Exception):
    """What the SDK was asked to do was not done; never leaves the tracking. One line, no key."""


def require_sdk() -> None:
    """Refuse early where the SDK is not installed, without importing it.

    Raises:
        UsageError: it is not installed.
    """
    if importlib.util.find_spec("wandb") is None:
        raise UsageError(
            "tracking with Weights & Biases needs its SDK: pip install 'jobsight[sweep]', or write "
            "'wandb: off' under 'tracking'"
        )


class SdkProcess:
    """The process, from its start to `close`, for one thread.

    Unless it is `online` it finds no key and no settings of the user.

    Raises:
        SdkError: from every method, where the process does not start, ends, does not answer in
        time, or
            answers that it could not do what it was asked.
    """

    def __init__(self, *, online: bool) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="jobsight-wandb-"))
        command = [sys.executable, "-W", "ignore", "-m", "jobsight.learning.tracking.sdk"]
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment(online),
                bufsize=0,
                # A signal to the training's process group leaves us the time to end the run.
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise SdkError(f"its process does not start: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._streams = (self._process.stdin, self._process.stdout)

    def _environment(self, online: bool) -> dict[str, str]:
        """Ours, with nothing of W&B's but who the user is, and with places that `close` removes."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("WANDB_") or (online and name in _PASSED_ON)
        }
        places = {"TMPDIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_ARTIFACT_DIR", "WANDB_DIR"}
        places |= set() if online else {"WANDB_CONFIG_DIR"}
        kept |= dict.fromkeys(places, str(self._scratch))
        return kept | {"WANDB_ERROR_REPORTING": "false", "WANDB_AGENT_DISABLE_FLAPPING": "true"}

    def ask(self, verb: str, values: Mapping[str, Any], patience: float) -> Any:
        """Have something done within `patience` seconds; what that method of `sdk` returns."""
        deadline = time.monotonic() + patience
        request, answers = self._streams
        line = json.dumps(without_nan({"do": verb, **values}), allow_nan=False)
        with contextlib.suppress(BrokenPipeError):  # then there is no answer
            request.write(line.encode() + b"\n")
        read = b""
        while not read.endswith(b"\n"):
            if not select.select([answers], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise SdkError("no answer in time")
            more = os.read(answers.fileno(), 1 << 16)
            if not more or len(read) > _MOST_ANSWER:
                raise SdkError("its process ended")
            read += more
        answer = json.loads(read)
        if answer.get("error"):
            raise SdkError(answer["error"])
        return answer.get("result")

    def close(self) -> None:
        """End the process and the service that it started, whatever they do."""
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        service = _children(self._process.pid)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for child in service:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        shutil.rmtree(self._scratch, ignore_errors=True)


def _children(process: int) -> list[int]:
    """Processes that it started and that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # proc(5): pid (name, which may hold anything) state ppid …
            text = status.read_text(encoding="utf-8", errors="replace")
            if int(text.rpartition(")")[2].split()[1]) == process:
                found.append(int(status.parent.name))
    return found


def create_sweep(
    definition: Mapping[str, Any], *, project: str, entity: str | None = None, patience: float = 60
) -> str:
    """Make a sweep on the server, within `patience` seconds; its id.

    `definition` is in W&B's own schema (``method``, ``metric``, ``parameters``, …); `entity` a user
    or team, None for the key's own.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached, refuses the key or the definition; says why.
    """
    values = {"definition": dict(definition), "project": project, "entity": entity}
    return str(_asked("sweep", values, patience))


def next_point(
    sweep_id: str, *, project: str, entity: str | None = None, patience: float = 60
) -> tuple[str, dict[str, Any]]:
    """Ask the sweep's server which point is tried next; the same is not given twice.

    Arguments as of `create_sweep`; a server that gives nothing in time counts as out of reach.

    Returns:
        the run's id on the server, for `WandbOptions.run_id`, and its parameters.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached or refuses the key, or its sweep has no more points
            (a grid that is used up, a sweep that was stopped there).
    """
    values = {"sweep": sweep_id, "project": project, "entity": entity}
    found = _asked("point", values, patience)
    if found is None:
        raise SweepError(
            f"the Weights & Biases server has no more points for the sweep {sweep_id[:80]!r}; it "
            "was stopped there, or its grid is used up"
        )
    return str(found["id"]), dict(found["parameters"])


def _asked(verb: str, values: Mapping[str, Any], patience: float) -> Any:
    require_sdk()
    try:
        with contextlib.closing(SdkProcess(online=True)) as sdk:
            return sdk.ask(verb, values, patience)
    except (SdkError, OSError) as error:
        raise SweepError(
            f"Weights & Biases: {error}; check the network, WANDB_BASE_URL and the key, or write "
            "'wandb: offline' under 'tracking', then the points are drawn here"
        ) from None
