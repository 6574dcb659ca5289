"""Commands that do not end by themselves: servers, and what watches something."""

from __future__ import annotations

import re

from jobsight.program.known import KNOWN
from jobsight.program.shell.model import Command
from jobsight.text import wordset

__all__ = ["server_of"]

_SERVERS = re.compile(
    r"(?:jupyter(?:-lab|-notebook)?|uvicorn|gunicorn|hypercorn|redis-server|valkey-server|mongod|mysqld|mariadbd|"
    r"nginx|httpd|tensorboard|streamlit|code-server|rserver|rstudio-server|memcached|caddy|celery|voila|sshd|"
    r"vncserver|postgres|kafka-server-start\S*|watch|htop|node-red|ollama)"
)
_SERVING = {
    "jupyter": {"notebook", "lab", "server"}, "streamlit": {"run"}, "celery": {"worker", "-A"},
    "ollama": {"serve"}, "flask": {"run"}, "mlflow": {"server", "ui"}, "bokeh": {"serve"},
}  # fmt: skip
_MODULES = wordset(KNOWN["servers"]["modules"])


_ASIDE = re.compile(r"--(?:fork|daemoni[sz]e|daemon|detach)(?:=.*)?|--server-daemonize=1|start")
"""What makes a server go into the background by itself."""
_STAYS = {"nginx": "daemon off", "httpd": "-X|FOREGROUND", "sshd": "-D", "vncserver": "-fg"}
"""Servers that do so without such an option."""


def server_of(command: Command) -> str | None:
    """What a command is that serves until killed; None: it ends, or runs in the background."""
    timed = any(one.name == "timeout" for one in command.launchers)
    if timed or command.background or command.checked or command.conditional:
        return None
    name = command.bare
    words = [word.text for word in command.arguments]
    if name in _SERVING:
        return f"{name} {words[0]}" if words and words[0] in _SERVING[name] else None
    if any(map(_ASIDE.fullmatch, words)) or not re.search(_STAYS.get(name, ""), " ".join(words)):
        return None
    if _SERVERS.fullmatch(name):
        return None if {"--version", "--help", "-v", "-h"} & set(words) else name
    if name == "sleep" and words[:1] in (["infinity"], ["inf"]):
        return "sleep infinity"
    if name == "tail" and any(re.fullmatch(r"-\w*[fF]|--follow(=.*)?", w) for w in words):
        return None if any(w.startswith("--pid") for w in words) else "tail -f"
    if name == "inotifywait" and {"-m", "--monitor"} & set(words):
        return "inotifywait -m"
    listens = any(re.fullmatch(r"-\w*l\w*", w) for w in words)
    if name in ("nc", "ncat") and listens and "-k" in words:
        return "nc -lk"
    if name.startswith("python") and words[:1] == ["-m"] and words[1:2] and words[1] in _MODULES:
        return f"{name} -m {words[1]}"
    return None
