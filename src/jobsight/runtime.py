"""What the process is in: folders, terminal, install; light, for commands in a hurry."""

from __future__ import annotations

import os
import sys

__all__ = ["cache_folder", "columns", "has_colours", "install_command", "socket_paths"]

_NAME = "serve.sock"
_USUAL_COLUMNS = 80


def cache_folder() -> str | None:
    """``jobsight`` in $XDG_CACHE_HOME, else in ``~/.cache``; None where there is no home."""
    home = os.path.expanduser("~/.cache")  # noqa: PTH111
    base = os.environ.get("XDG_CACHE_HOME") or home
    return None if base == "~/.cache" else f"{base}/jobsight"


def install_command(extra: str) -> str:
    """The command that adds an extra to this very install, be it a checkout or from an index."""
    import shlex  # of no use to commands that find everything
    from importlib.util import find_spec

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


def columns() -> int | None:
    """Cells in a line: as COLUMNS says, else the terminal; None: no terminal, no limit."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and 0 < len(named) < 6 and int(named) > 0:
        return int(named)
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS


def has_colours() -> bool:
    """Whether standard output is a terminal that wants colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()
