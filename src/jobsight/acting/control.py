"""The switch: a kill file that stops all that acts, and the locks that make this certain.

Before each call that changes something, the caller takes the switch (`Switch.taken`): the lock of
calls first, then a look for the kill file. Who turns it off writes the kill file first, then waits
for that lock. So once `Switch.turn_off` has returned, no call is under way, and none begins.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from jobsight.clock import format_micros, now_micros
from jobsight.errors import OutputError, SourceError
from jobsight.locks import holder, is_locked, take
from jobsight.modes import make_folder

__all__ = ["Switch"]

_PAUSE_S = 0.05


class Switch:
    """The switch of one folder. For any number of processes of one account, and root.

    Attributes:
        kill_file: nothing acts while it exists, or while it is not known whether it does.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.kill_file = folder / "off"

    def refusal(self) -> str | None:
        """Why nothing may act now; None: it may."""
        try:
            self._folder.stat()
            self.kill_file.lstat()
        except FileNotFoundError:
            return None if self._folder.is_dir() else f"the folder {self._folder} is missing"
        except OSError as error:
            return f"{self.kill_file} cannot be read: {error.strerror}"
        return f"it was turned off: {self.kill_file} exists"

    @contextlib.contextmanager
    def taken(self) -> Iterator[str | None]:
        """Around one call that changes something; yields why it must not be made, or None.

        Raises:
            OutputError: the lock file cannot be made or opened.
        """
        lock = take(self._folder / "call.lock")
        try:
            yield "another process acts, or turns acting off" if lock is None else self.refusal()
        finally:
            if lock is not None:
                os.close(lock)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Around all that one process does: there is one that acts.

        Raises:
            SourceError: another process acts; names it.
            OutputError: the folder or the lock file cannot be made.
        """
        self.prepare()
        path = self._folder / "acting.lock"
        lock = take(path)
        if lock is None:
            raise SourceError(f"another process acts already ({holder(path)}); stop it first")
        try:
            yield
        finally:
            os.close(lock)

    def acting(self) -> str | None:
        """The process that acts now, in words; None: there is none."""
        path = self._folder / "acting.lock"
        found = holder(path)
        return None if found is None or found.gone() or is_locked(path) is False else str(found)

    @contextlib.contextmanager
    def turn_off(self, patience: float) -> Iterator[bool]:
        """Write the kill file, then wait up to `patience` seconds for the call that is under way.

        Yields:
            Whether no call is under way: none begins within the block, nor later.

        Raises:
            OutputError: the kill file cannot be written.
        """
        self.prepare()
        try:
            self.kill_file.write_text(f"turned off at {format_micros(now_micros())}\n")
        except OSError as error:
            raise OutputError(f"cannot write {self.kill_file}: {error.strerror}") from None
        until = time.monotonic() + patience
        while (lock := take(self._folder / "call.lock")) is None and time.monotonic() < until:
            time.sleep(_PAUSE_S)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                os.close(lock)

    def turn_on(self) -> None:
        """Remove the kill file.

        Raises:
            OutputError: it cannot be removed.
        """
        self.prepare()
        try:
            self.kill_file.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"cannot remove {self.kill_file}: {error.strerror}") from None

    def prepare(self) -> None:
        """Make the folder.

        Raises:
            OutputError: it cannot be made.
        """
        try:
            make_folder(self._folder)
        except OSError as error:
            raise OutputError(f"cannot make the folder {self._folder}: {error.strerror}") from None
