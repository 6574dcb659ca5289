"""Where a running service listens for commands of the same user; light, for commands in a hurry."""

from __future__ import annotations

import os

__all__ = ["socket_paths"]

_NAME = "serve.sock"


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
