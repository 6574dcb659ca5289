"""What the options of sbatch(1) ask for: those of a script's ``#SBATCH`` lines, and of the call."""

from __future__ import annotations

import argparse
import math
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from jobsight.errors import UsageError
from jobsight.history.slurm.batchscript import directives
from jobsight.history.slurm.sizes import parse_memory
from jobsight.history.slurm.times import parse_span

__all__ = ["requested"]

_MB = 1 << 20


def _type(read: Callable[[str], int]) -> Callable[[str], int]:
    """A type of argparse whose errors say what is wrong with the text."""

    def typed(text: str) -> int:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return typed


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"sbatch options: {message[:200]}")


def requested(script: str, options: Sequence[str] = ()) -> dict[str, Any]:
    """The request of a batch script in columns of the job table; those it does not name are null.

    Options of the call go before those of the script. Without an option for it, a job asks for one
    CPU for each task, one task and one node; its name is left out.

    Args:
        script: its text.
        options: as given to sbatch after the script.

    Raises:
        UsageError: the value of an option cannot be read.
    """
    parser = _parser()
    try:
        lines = [shlex.split(line) for line in directives(script)]
    except ValueError as error:
        raise UsageError(f"a #SBATCH line cannot be read: {error}") from None
    found, _ = parser.parse_known_args([word for line in lines for word in line])
    # Memory is given in one of three ways: the call's replaces the script's, whichever that is.
    given, _ = parser.parse_known_args(list(options))
    memory = ("mem", "mem_per_cpu", "mem_per_gpu")
    ways = given if any(getattr(given, one) is not None for one in memory) else found
    chosen = {**vars(found), **{key: one for key, one in vars(given).items() if one is not None}}
    chosen |= {one: getattr(ways, one) for one in memory}
    return _columns(chosen)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False, prog="sbatch")
    texts = {"--job-name": "-J", "--partition": "-p", "--account": "-A", "--qos": "-q",
             "--chdir": "-D", "--gres": None, "--array": "-a"}  # fmt: skip
    for name, short in texts.items():
        parser.add_argument(name, *([short] if short else []))
    for name in ("--mem", "--mem-per-cpu", "--mem-per-gpu"):
        parser.add_argument(name, type=_type(_memory))
    for name, short in {"--cpus-per-task": "-c", "--ntasks": "-n"}.items():
        parser.add_argument(name, short, type=int)
    parser.add_argument("--ntasks-per-node", type=int)
    parser.add_argument("--nodes", "-N", type=_least)
    parser.add_argument("--time", "-t", type=_type(_seconds))
    parser.add_argument("--gpus", "-G", type=_gpus)
    parser.add_argument("--gpus-per-node", type=_gpus)
    return parser


def _columns(chosen: dict[str, Any]) -> dict[str, Any]:
    nodes = chosen["nodes"]
    tasks = chosen["ntasks"] or (chosen["ntasks_per_node"] or 1) * (nodes or 1)
    cpus = tasks * (chosen["cpus_per_task"] or 1)
    named = re.search(r"(?:^|,)gpu(?::[^,:]+)*?(?::(\d+))?(?=,|\(|$)", chosen["gres"] or "")
    on_each = chosen["gpus_per_node"] or (int(named[1] or 1) if named else None)
    gpus = chosen["gpus"] or (on_each and on_each * (nodes or 1))
    sizes = {"mem": nodes or 1, "mem_per_cpu": cpus, "mem_per_gpu": gpus or 1}
    memory = [chosen[name] * count for name, count in sizes.items() if chosen[name]]
    return {
        "name": chosen["job_name"],
        "partition": chosen["partition"],
        "account": chosen["account"],
        "qos": chosen["qos"],
        "work_dir": chosen["chdir"],
        "request_cpus": cpus,
        "request_nodes": nodes or 1,
        "request_gpus": gpus,
        "request_memory_mb": memory[0] if memory else None,
        "time_limit_s": chosen["time"],
    }


def _memory(text: str) -> int:
    """MB of 2^20 bytes."""
    found = parse_memory(text)
    return 0 if found is None else math.ceil(found.size / _MB)


def _seconds(text: str) -> int:
    """Seconds; −1: unlimited."""
    found = parse_span(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a span of time")
    return -1 if math.isinf(found) else int(found)


def _least(text: str) -> int:
    """The least number of nodes of ``2`` or ``2-4``."""
    return int(re.split("[-,:]", text)[0])


def _gpus(text: str) -> int:
    """GPUs of ``2``, ``a100:2`` or ``a100:1,v100:1``."""
    return sum(int(part.rpartition(":")[2]) for part in text.split(","))
