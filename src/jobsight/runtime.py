"""Folders of the user: the socket of a running service, caches; light, for commands in a hurry."""

from __future__ import annotations

import os

__all__ = ["cache_folder", "socket_paths"]

_NAME = "serve.sock"


def cache_folder() -> str | None:
    """``jobsight`` in $XDG_CACHE_HOME, else in ``~/.cache``; None where there is no home."""
    home = os.path.expanduser("~/.cache")  # noqa: PTH111
    base = os.environ.get("XDG_CACHE_HOME") or home
    return None if base == "~/.cache" else f"{base}/jobsight"


def socket_paths() -> list[str]:
    """Paths of the service's Unix socket: the first is where one of this process listens.

    ``JOBSIGHT_SERVE__SOCKET``, else in systemd's $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR, else
    in the user's state folder; last where the system's unit has it.
    """
    named = os.environ.get("JOBSIGHT_SERVE__SOCKET")
    if named:
        return [os.path.expanduser(named)]  # noqa: PTH111
    run = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    session, state = (os.environ.get(f"XDG_{one}", "") for one in ("RUNTIME_DIR", "STATE_HOME"))
    folders = [run] if run else []
    folders += [f"{session}/jobsight"] if session.startswith("/") else []
    home = state if state.startswith("/") else os.path.expanduser("~/.local/state")  # noqa: PTH111
    return [f"{one}/{_NAME}" for one in (*folders, f"{home}/jobsight", "/run/jobsight")]
