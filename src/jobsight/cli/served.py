"""Commands of the same user that run in the service: the same code, what it prints taken down.

What needs no store is run by the processes that analyse scripts. The rest runs one after another
in one thread, which has a working folder of its own (unshare(2)), so
that relative paths mean what they mean to the caller.
"""

from __future__ import annotations

import asyncio
import ctypes
import getpass
import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from jobsight.cli.analyst import printed_by
from jobsight.cli.quick import environment
from jobsight.cli.terminal import TERMINAL, Terminal
from jobsight.errors import JobsightError
from jobsight.store.opening import place_of

if TYPE_CHECKING:
    from jobsight.learning.question import Question
    from jobsight.service.web.ready import Follower, Ready
    from jobsight.service.web.site import Site
    from jobsight.settings import Settings

__all__ = ["Commands", "ElsewhereError", "ready_for"]

_CLONE_FS = 0x200
_OF_SCRIPTS = frozenset({"bound", "check"})
"""Verbs that need nothing of what is ready, and read what may be hostile."""
_PATIENCE_S = 0.5
_READY: ContextVar[Ready | None] = ContextVar("ready", default=None)


class ElsewhereError(Exception):
    """The command needs what the service does not have ready: it does its own work."""


def ready_for(
    inputs: list[str], settings: Settings, question: Question[Any], *, now: bool
) -> Ready | None:
    """What is ready where a command runs in the service; None: it runs by itself.

    Raises:
        ElsewhereError: it asks for another store, a model or a moment (not `now`), or has other
            settings.
    """
    ready = _READY.get()
    if ready is None:
        return None
    own = ready.settings
    same = (
        now
        and inputs == ["store:"]
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
        self._analysts = site.analysts
        self._environment = environment()
        self._store_named = "JOBSIGHT_STORE" in os.environ
        self._thread = ThreadPoolExecutor(1, "commands", _own_folder)

    async def run(self, asked: dict[str, Any]) -> bytes | None:
        """What a command prints, see `printed_by`; None: it must do its own work.

        `asked` is as `jobsight.cli.quick` sends it.
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
        if words[0] in _OF_SCRIPTS:
            task = {"do": "command", "words": words, "folder": folder, "encoding": encoding,
                    "columns": terminal.columns, "colours": terminal.colours,
                    "scripts": len(words)}  # fmt: skip
            from jobsight.service.web.guards import RefusedError  # commands elsewhere lack it

            try:
                printed: str = await self._analysts.ask(getpass.getuser(), task)
            except (JobsightError, RefusedError):
                return None
            return printed.encode("latin-1")
        run = partial(self._run, words, folder, encoding, terminal)
        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _run(
        self, words: list[str], folder: str, encoding: str, terminal: Terminal
    ) -> bytes | None:
        ready = self._follower.await_ready(_PATIENCE_S, self._store.revision())
        if ready is None:
            return None
        tokens = _READY.set(ready), TERMINAL.set(terminal)
        try:
            os.chdir(folder)
            with ready.lock:
                return printed_by(words, encoding)
        except (ElsewhereError, OSError):
            return None
        finally:
            _READY.reset(tokens[0])
            TERMINAL.reset(tokens[1])


def _own_folder() -> None:
    """Give this thread a working folder of its own; elsewhere all paths are absolute."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_FS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
