"""Folders of the user, and how to install more; light, for commands in a hurry."""

from __future__ import annotations

import os
import shlex
import sys

__all__ = ["cache_folder", "install_command", "socket_paths"]

_NAME = "serve.sock"


def cache_folder() -> str | None:
    """``jobsight`` in $XDG_CACHE_HOME, else in ``~/.cache``; None where there is no home."""
    home = os.path.expanduser("~/.cache")  # noqa: PTH111
    base = os.environ.get("XDG_CACHE_HOME") or home
    return None if base == "~/.cache" else f"{base}/jobsight"


def install_command(extra: str) -> str:
    """The command that adds an extra to this very install, be it a checkout or from an index."""
    from importlib.util import find_spec  # of no use to commands that find everything

    python = shlex.quote(sys.executable)
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{pip} 'jobsight[{extra}]'"


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
