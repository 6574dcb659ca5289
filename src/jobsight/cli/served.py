"""Commands of the same user that run in the service: the same code, what it prints taken down.

They run one after another in one thread, which has a working folder of its own (unshare(2)), so
that relative paths mean what they mean to the caller.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from jobsight.cli.quick import environment
from jobsight.cli.terminal import TERMINAL, Terminal
from jobsight.store.opening import place_of

if TYPE_CHECKING:
    from jobsight.learning.question import Question
    from jobsight.service.web.ready import Follower, Ready
    from jobsight.service.web.site import Site
    from jobsight.settings import Settings

__all__ = ["Commands", "ElsewhereError", "ready_for"]

_CLONE_FS = 0x200
_OF_SCRIPTS = frozenset({"bound", "check"})
"""Verbs that need nothing of what is ready: they wait for no reading of the store."""
_PATIENCE_S = 0.5
_READY: ContextVar[Ready | None] = ContextVar("ready", default=None)


class ElsewhereError(Exception):
    """The command needs what the service does not have ready: it does its own work."""


def ready_for(inputs: list[str], settings: Settings, question: Question[Any]) -> Ready | None:
    """What is ready where a command runs in the service; None: it runs by itself.

    Raises:
        ElsewhereError: it asks for another store, or has other settings.
    """
    ready = _READY.get()
    if ready is None:
        return None
    own = ready.settings
    same = (
        inputs == ["store:"]
        and place_of(settings.store.url) == place_of(own.store.url)
        and settings.registry.absolute() == own.registry.absolute()
        and settings.slurm == own.slurm
        and settings.of(question.name, question.settings)
        == own.of(question.name, question.settings)
    )
    if not same or not len(ready.tables.jobs.table):
        raise ElsewhereError
    return ready


class Commands:
    """Runs commands in the service."""

    def __init__(self, site: Site) -> None:
        self._follower: Follower = site.follower
        self._store = site.store
        self._environment = environment()
        self._store_named = "JOBSIGHT_STORE" in os.environ
        self._thread = ThreadPoolExecutor(1, "commands", _own_folder)

    def run(self, asked: dict[str, Any]) -> bytes | None:
        """What a command prints: ``STATUS LENGTH``, standard output of that length, and the rest.

        Args:
            asked: as `jobsight.cli.quick` sends it.

        Returns:
            None: it must do its own work.
        """
        words = [str(one) for one in asked["words"]]
        named = any(one.partition("=")[0] == "--store" for one in words)
        if asked["environment"] != self._environment:
            return None
        if asked["store"] and not named and words[0] != "check":
            words += ["--store", str(asked["store"])]
        elif self._store_named and not named:
            return None
        if words[0] == "check" and named:
            return None  # which reads the whole store
        terminal = Terminal(asked["columns"], bool(asked["colours"]))
        folder, encoding = str(asked["folder"]), str(asked["encoding"])
        return self._thread.submit(self._run, words, folder, encoding, terminal).result()

    def _run(
        self, words: list[str], folder: str, encoding: str, terminal: Terminal
    ) -> bytes | None:
        from jobsight.cli.main import main

        lock: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        ready = None
        if words[0] not in _OF_SCRIPTS:
            ready = self._follower.await_ready(_PATIENCE_S, self._store.revision())
            if ready is None:
                return None
            lock = ready.lock
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding, "replace") for _ in range(2))
        status: object = 0
        tokens = _READY.set(ready), TERMINAL.set(terminal)
        try:
            os.chdir(folder)
            with lock, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(words)
        except SystemExit as leaving:
            status = leaving.code or 0
        except (ElsewhereError, OSError):
            return None
        finally:
            _READY.reset(tokens[0])
            TERMINAL.reset(tokens[1])
        printed, said = (_taken(one) for one in (out, err))
        return f"{status} {len(printed)}\n".encode() + printed + said


def _taken(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def _own_folder() -> None:
    """Give this thread a working folder of its own; elsewhere all paths are absolute."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_FS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
