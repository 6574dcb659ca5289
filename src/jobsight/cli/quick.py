"""The entry of the command line: a question is first put to a service that runs here.

A service of the same user answers on a Unix socket what the command itself would print, in a
fraction of the time, since it has read the store and opened the models. Where there is none, where
it reads another store or was started with other settings, the command does its own work. Nothing
heavy is imported here.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

from jobsight.runtime import columns, has_colours, socket_paths

__all__ = ["environment", "main"]

_VERBS = frozenset({"hold", "fail", "start", "bound", "check"})
_OWN_WORK = frozenset(
    {"--log", "--import", "--model", "--config", "--save", "--publish", "--fix", "--network",
     "--site", "--shellcheck", "-h", "--help"}
)  # fmt: skip
"""Options with which a command reads or writes more than the store."""
_OWN_INPUT = frozenset({"-", "store:", "--store=store:"})
"""Standard input, and the store that this process's own settings name."""
_NAMES = frozenset(
    {"HOME", "LOGNAME", "MODULEPATH", "PATH", "TZ", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
     "XDG_DATA_HOME"}
)  # fmt: skip
_BEGINNINGS = ("CONDOR_", "JOBSIGHT_", "SBATCH_", "SLURM_", "_CONDOR_")
_COLLECT_AFTER = 50_000
"""Objects made between two searches for cycles; Python's own 700 cost a short command a tenth."""
_CONNECT_S, _ANSWER_S = 0.2, 10.0
_MOST = 64 << 20


def main() -> None:
    """Run the command line and leave with its exit status."""
    answered = _from_service(sys.argv[1:])
    if answered is None:
        gc.set_threshold(_COLLECT_AFTER)
        # Else cycles are searched for in all that is left at the end: a sixth of a command's time.
        atexit.register(gc.freeze)
        # Else pydantic looks through what every installed package offers: 60 ms of a command.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from jobsight.cli.main import main as run

        run()
        return
    status, out, err = answered
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
        sys.stderr.buffer.write(err)
        sys.stderr.buffer.flush()
    except BrokenPipeError:  # the reader of the output went away (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 0
    sys.exit(status)


def environment() -> dict[str, str]:
    """The variables that what a command prints depends on; the store is named by itself."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name in _NAMES or name.startswith(_BEGINNINGS))
        and name != "JOBSIGHT_STORE"
        and not name.startswith("JOBSIGHT_SERVE__")
    }


def _from_service(words: list[str]) -> tuple[int, bytes, bytes] | None:
    """Exit status and output of a command as the service gives them; None: it does not."""
    if not words or words[0] not in _VERBS or not _OWN_INPUT.isdisjoint(words):
        return None
    if any(word.partition("=")[0] in _OWN_WORK for word in words) or sys.stdout is None:
        return None
    paths = [path for path in socket_paths() if os.path.exists(path)]  # noqa: PTH110
    if not paths or sys.stderr is None:
        return None
    import json

    request = json.dumps(
        {
            "words": words,
            "folder": os.getcwd(),  # noqa: PTH109
            "environment": environment(),
            "store": os.environ.get("JOBSIGHT_STORE"),
            "encoding": sys.stdout.encoding,
            "columns": columns(),
            "colours": has_colours(),
        }
    )
    for path in paths:
        answer = _asked(path, request.encode())
        if answer is not None:
            head, _, rest = answer.partition(b"\n")
            status, length = map(int, head.split())
            return status, rest[:length], rest[length:]
    return None


def _asked(path: str, body: bytes) -> bytes | None:
    """The body of the service's answer; None: it has none for this."""
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.settimeout(_CONNECT_S)
            connection.connect(path)
            connection.settimeout(_ANSWER_S)
            connection.sendall(
                b"POST /api/v1/command HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            parts, size = [], 0
            while (part := connection.recv(1 << 16)) and size <= _MOST:
                parts.append(part)
                size += len(part)
        except OSError:
            return None
    head, _, answer = b"".join(parts).partition(b"\r\n\r\n")
    whole = b"\r\ncontent-length: %d\r\n" % len(answer) in head.lower() + b"\r\n"
    return answer if whole and head.startswith(b"HTTP/1.1 200 ") else None
