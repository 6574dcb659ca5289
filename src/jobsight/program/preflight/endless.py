"""JS307, JS308: what does not end by itself, and so is not a job."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText, dotted
from jobsight.program.shell.model import Command
from jobsight.program.submission.job import Place
from jobsight.text import wordlist

__all__ = ["NOT_A_JOB"]

NOT_A_JOB = frozenset({"JS307", "JS308"})
"""Findings that say that what was checked is not a job."""

_ENDS = frozenset(wordlist("exit quit sys.exit os._exit os.abort next input os.execv exit_"))
_SERVERS = re.compile(
    r"(?:jupyter(?:-lab|-notebook)?|uvicorn|gunicorn|hypercorn|redis-server|valkey-server|mongod|mysqld|mariadbd|"
    r"nginx|httpd|tensorboard|streamlit|code-server|rserver|rstudio-server|memcached|caddy|celery|voila|sshd|"
    r"vncserver|postgres|kafka-server-start\S*|watch|htop|node-red|ollama)"
)
_SERVING = {
    "jupyter": {"notebook", "lab", "server"},
    "streamlit": {"run"},
    "celery": {"worker", "-A"},
    "ollama": {"serve"},
    "flask": {"run"},
    "mlflow": {"server", "ui"},
    "bokeh": {"serve"},
}
_MODULES = frozenset(
    wordlist(
        "http.server SimpleHTTPServer uvicorn gunicorn flask jupyter jupyterlab notebook "
        "streamlit tensorboard.main socketserver"
    )
)
_PYTHON_SERVERS = frozenset({"serve_forever", "run_forever", "run_app", "start_server", "serve"})


@rule(
    "JS307 A loop that nothing ends",
    fails="#SBATCH --time=10\nwhile true; do\n  date\n  sleep 60\ndone\n",
    passes="#SBATCH --time=10\nwhile true; do\n  [ -f done ] && break\n  sleep 60\ndone\n",
)
def _endless_loops(job: Job) -> Iterator[Hit]:
    """Always true, with nothing in it that leaves it: it runs into the time limit."""
    seen: set[tuple[str, Place]] = set()
    for command in job.commands:
        timed = any(one.name == "timeout" for one in command.launchers)
        for loop in command.loops:
            key = (command.source.file, loop.place)
            if loop.endless and key not in seen and not command.background and not timed:
                seen.add(key)
                yield hit(
                    loop,
                    "nothing ends this loop: it runs into the time limit",
                    "break, or a condition",
                    source=command.source,
                )
    for program, text in job.pythons:
        timed = any(one.name == "timeout" for one in program.command.launchers)
        if program.command.background or timed or re.search(r"\bsignal\.|\balarm\(", text.text):
            continue
        for node in _endless(text):
            yield hit(
                node,
                "nothing ends this loop: it runs into the time limit",
                "break, or a condition",
                source=program.source,
            )


def _endless(text: PythonText) -> Iterator[ast.While | ast.For]:
    called = {name.rpartition(".")[2] for name, _, _ in text.calls}
    for node, around in text.nodes:
        if isinstance(node, ast.While):
            if not (isinstance(node.test, ast.Constant) and node.test.value):
                continue
        elif not (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and dotted(node.iter.func) in ("itertools.count", "count")
        ):
            continue
        functions = [
            one for one in around if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        if any(isinstance(one, ast.Try) for one in around) or any(
            one.name not in called for one in functions
        ):
            continue
        if not any(map(_leaves, _inside(node))):
            assert isinstance(node, ast.While | ast.For)
            yield node


def _inside(loop: ast.AST) -> Iterator[ast.AST]:
    """What is in a loop; a ``break`` of a loop in it is not."""
    waiting = [(one, False) for one in ast.iter_child_nodes(loop)]
    while waiting:
        node, inner = waiting.pop()
        if not (inner and isinstance(node, ast.Break)):
            yield node
        within = inner or isinstance(node, ast.While | ast.For | ast.AsyncFor)
        waiting += [(one, within) for one in ast.iter_child_nodes(node)]


def _leaves(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func) in _ENDS
    return isinstance(
        node,
        ast.Break | ast.Return | ast.Raise | ast.Yield | ast.YieldFrom | ast.Await | ast.Assert,
    )


@rule(
    "JS308 A server, which does not end by itself",
    fails="#SBATCH --time=10\npython3 -m http.server 8000\n",
    passes="#SBATCH --time=10\npython3 -m http.server 8000 &\ncurl -s localhost:8000\nkill $!\n",
)
def _servers(job: Job) -> Iterator[Hit]:
    """Known servers in the foreground; ``sleep infinity``, ``tail -f``."""
    for command in job.commands:
        if (
            command.background
            or any(one.name == "timeout" for one in command.launchers)
            or command.checked
        ):
            continue
        what = _server(command)
        if what is not None and not command.conditional:
            yield hit(
                command,
                f"{what} does not end by itself: it runs into the time limit",
                "start it in the background, and stop it at the end",
            )
    for program, text in job.pythons:
        if program.command.background or any(
            one.name == "timeout" for one in program.command.launchers
        ):
            continue
        for name, call, _ in text.calls:
            if _serves(name, call, text):
                yield hit(
                    call,
                    f"{name or 'this'}() serves until it is killed: not a job",
                    source=program.source,
                )
                break


def _server(command: Command) -> str | None:
    name = PurePosixPath(command.name or "").name
    words = [word.text for word in command.arguments]
    if name in _SERVING:
        return f"{name} {words[0]}" if words and words[0] in _SERVING[name] else None
    if _SERVERS.fullmatch(name):
        return None if {"--version", "--help", "-v", "-h"} & set(words) else name
    if name == "sleep" and words[:1] in (["infinity"], ["inf"]):
        return "sleep infinity"
    if name == "tail" and any(re.fullmatch(r"-\w*[fF]|--follow(=.*)?", w) for w in words):
        return None if any(w.startswith("--pid") for w in words) else "tail -f"
    if (
        name in ("nc", "ncat")
        and any(re.fullmatch(r"-\w*l\w*", w) for w in words)
        and "-k" in words
    ):
        return "nc -lk"
    if name.startswith("python") and words[:1] == ["-m"] and words[1:2] and words[1] in _MODULES:
        return f"{name} -m {words[1]}"
    return None


def _serves(name: str, call: ast.Call, text: PythonText) -> bool:
    last = name.rpartition(".")[2] or (
        call.func.attr if isinstance(call.func, ast.Attribute) else ""
    )
    if last in _PYTHON_SERVERS and last not in ("serve", "start_server"):
        return "Thread(" not in text.text and "timeout" not in text.text
    if name == "uvicorn.run":
        return True
    return name == "app.run" and bool(re.search(r"Flask\(|FastAPI\(|Bottle\(|Dash\(", text.text))
