"""The status file of a collector, for people and monitoring, and the locks that collectors hold.

JSON, written whole or not at all every few seconds. ``written`` (µs since 1970) and the lock next
to the file show whether a collector still runs.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobsight.clock import format_span
from jobsight.documents import JSON
from jobsight.errors import OutputError, SourceError
from jobsight.files import read_json
from jobsight.locks import holder, is_locked, take
from jobsight.modes import make_folder
from jobsight.settings import CollectSettings
from jobsight.text import printable

__all__ = [
    "SCHEMA",
    "Report",
    "lock_path",
    "locked",
    "memory_mb",
    "read",
    "status_path",
    "store_lock",
]

SCHEMA = "jobsight.collect/1"

_NAME = "collect.json"
_SYSTEM = Path("/run/jobsight") / _NAME
"""Where the systemd unit that ships with Jobsight has it (RuntimeDirectory=jobsight)."""

_STALE_FACTOR = 3.0
_STALE_EXTRA_S = 15.0


def status_path(settings: CollectSettings) -> Path:
    """Where a collector with these settings writes its status."""
    if settings.status_file is not None:
        return settings.status_file
    run = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    if run:
        return Path(run) / _NAME
    state = os.environ.get("XDG_STATE_HOME", "")
    home = Path(state) if state.startswith("/") else Path("~/.local/state").expanduser()
    return home / "jobsight" / _NAME


def lock_path(status: Path) -> Path:
    """The lock of the collector that writes `status`."""
    return status.with_name(status.name + ".lock")


def store_lock(url: str) -> Path | None:
    """The lock of the collector into an embedded store; None: a server's store has no lock.

    It is next to the file itself, so that a store of two names has one.
    """
    scheme, found, rest = url.partition("://")
    if found and scheme != "sqlite":
        return None
    file = Path(os.path.realpath(rest if found else url))
    return file.with_name(f"{file.name}.collect.lock")


@contextlib.contextmanager
def locked(
    path: Path, what: str, advice: str = "fix the permissions of its folder"
) -> Iterator[None]:
    """Hold the lock file `path` of a collector; the file stays.

    Raises:
        SourceError: another process holds it; names that process.
        OutputError: the file cannot be made or opened.
    """
    try:
        with contextlib.suppress(OSError):  # `take` reports what is wrong with it
            make_folder(path.parent)
        number = take(path)
    except OutputError as error:
        raise OutputError(f"{error}; {advice}") from None
    if number is None:
        who = holder(path)
        raise SourceError(
            f"a collector runs already {what}{f' ({who})' if who else ''}; stop it first, or give "
            "this one settings of its own"
        )
    try:
        yield
    finally:
        os.close(number)


@dataclass(frozen=True)
class Report:
    """A status file as it was found; `problems`: why the collector is not well, in words."""

    path: Path
    status: dict[str, JSON]
    problems: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether a collector runs, and all its sources are well."""
        return not self.problems

    def to_json(self) -> dict[str, JSON]:
        """The status with what is wrong, as one object."""
        return {**self.status, "healthy": self.healthy, "problems": list(self.problems)}


def read(settings: CollectSettings) -> Report:
    """Find and judge the status file.

    Raises:
        SourceError: there is none, or it cannot be read or understood.
    """
    path = status_path(settings)
    if settings.status_file is None and not path.exists() and _SYSTEM.exists():
        path = _SYSTEM
    try:
        status = read_json(path, dict)
    except FileNotFoundError:
        raise SourceError(
            f"no collector has written {path}; start one with jobsight collect, or name its "
            "settings with --config"
        ) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read the status file {path}: {error}") from None
    if status.get("schema") != SCHEMA:
        raise SourceError(f"{path} is not the status of a collector of this version ({SCHEMA})")
    return Report(path, status, tuple(_problems(path, status)))


def memory_mb() -> float:
    """Resident memory of this process, MB of 2^20 bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), 1)


def _problems(path: Path, status: dict[str, JSON]) -> list[str]:
    age = time.time() - status["written"] / 1e6
    if status["stopped"] is not None:
        ending = "ended" if status["once"] else "was stopped"
        return [f"no collector runs: the last one {ending} {format_span(max(age, 0))} ago"]
    if is_locked(lock_path(path)) is False:
        return [
            f"no collector runs: the last one (process {status['pid']}) ended without a word, "
            f"{format_span(max(age, 0))} ago or later"
        ]
    if age > _STALE_FACTOR * status["every_s"] + _STALE_EXTRA_S:
        return [f"the status is stale: written {format_span(age)} ago"]
    problems = []
    if status["store"]["url"] is None:
        reason = _last_error(status["store"]) or "the collector has just started"
        problems.append(printable(f"the store is not open yet: {reason}", 400))
    for name, source in sorted(status["sources"].items()):
        if not source["healthy"]:
            reason = source["problem"] or _last_error(source)
            state = source["state"] if source["turning"] else "is stuck"
            problems.append(printable(f"{name}: {state}" + (f": {reason}" if reason else ""), 400))
    return problems


def _last_error(one: dict[str, JSON]) -> JSON:
    return one["last_error"] and one["last_error"]["text"]
