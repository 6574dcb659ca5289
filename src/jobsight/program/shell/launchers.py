"""Programs that start other programs: srun, mpirun, time, env … taken off a command.

Sources: srun(1), mpirun(1) of Open MPI and mpiexec(1) of MPICH, env(1), timeout(1), parallel(1),
xargs(1), taskset(1), numactl(8), apptainer-exec(1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from jobsight.program.known import KNOWN
from jobsight.program.shell.model import Launcher, Word
from jobsight.program.submission.sbatch import OPTIONS
from jobsight.text import wordset

__all__ = ["MPI", "Stripped", "strip_launchers"]

MPI = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "ibrun", "aprun"})
_CONTAINERS = frozenset({"apptainer", "singularity", "docker", "podman", "shifter", "charliecloud"})

_VALUES: dict[str, str] = KNOWN["launchers"]["values"]
_NO_VALUE = wordset(KNOWN["launchers"]["no_value"])
_TAKES_MORE = {"timeout": 1, "taskset": 1, "chrt": 1}
_WITH_SUBCOMMAND = {"conda": {"run"}, "mamba": {"run"}, "micromamba": {"run"},
                    "perf": {"stat", "record"}, "apptainer": {"exec", "run"},
                    "singularity": {"exec", "run"},
                    "docker": {"run", "exec"}, "podman": {"run", "exec"},
                    "jobsight": {"profile"}}  # fmt: skip


class Stripped(NamedTuple):
    """A command without what starts it."""

    words: tuple[Word, ...]
    launchers: tuple[Launcher, ...]
    assigned: dict[str, str | None]
    contained: bool


def strip_launchers(words: Sequence[Word]) -> Stripped:
    """Take off what starts a command; ``time srun -n 4 ./a`` leaves ``./a``."""
    rest = tuple(words)
    launchers: list[Launcher] = []
    assigned: dict[str, str | None] = {}
    contained = False
    while rest and rest[0].value is not None and len(launchers) < 8:
        name = PurePosixPath(rest[0].value).name
        kind = "mpi" if name in MPI else name
        if kind not in _VALUES or len(rest) < 2:
            break
        if name in _WITH_SUBCOMMAND:
            plain = (k for k, word in enumerate(rest[1:4], 1) if word.text[:1] != "-")
            at = next(plain, 1)
            if rest[at].value not in _WITH_SUBCOMMAND[name]:
                break
        else:
            at = 0
        options, at = _after_options(rest, at + 1, kind)
        if name == "env":
            while at < len(rest) and (found := re.match(r"(\w+)=", rest[at].text)):
                value = rest[at].value
                assigned[found[1]] = None if value is None else value.partition("=")[2]
                at += 1
        if name == "timeout" and at < len(rest):
            options["duration"] = rest[at].value or ""
        at += _TAKES_MORE.get(name, 0)
        if name in _CONTAINERS:
            if at < len(rest):
                options["image"] = rest[at].value or "$"
            contained, at = True, at + 1
        if name in ("xargs", "parallel") and at >= len(rest):
            break
        if name == "parallel" and " " in (rest[at].value or "").strip():
            # the command is one word, in quotes
            parts = re.split(r"[|&;<>]", rest[at].value or "")[0].split()
            split = (Word(one, one, rest[at].place) for one in parts)
            rest = (*rest[:at], *split, *rest[at + 1 :])
        launchers.append(Launcher(name, options, rest[0].place))
        if at >= len(rest):
            return Stripped((), tuple(launchers), assigned, contained)
        rest = rest[at:]
    return Stripped(rest, tuple(launchers), assigned, contained)


def _after_options(words: Sequence[Word], at: int, kind: str) -> tuple[dict[str, str], int]:
    """Options from `at` on with their values, and where the rest begins."""
    parts = (one.partition(":") for one in _VALUES[kind].split())
    spec = {name.lstrip("-"): int(number or 1) for name, _, number in parts}
    found: dict[str, str] = {}
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        text = words[at].text
        at += 1
        if text == "--":
            break
        name, equals, value = text.lstrip("-").partition("=")
        takes = 0 if equals or text in _NO_VALUE else _takes(name, text, kind, spec)
        short = not (text.startswith("--") or equals or kind == "mpi")
        if short and len(name) > 1 and not takes:
            name, value = name[0], name[1:]  # -n4
        if takes and at + takes <= len(words):
            value = words[at].value or words[at].text
            at += takes
        found[name] = value
    return found, at


def _takes(name: str, text: str, kind: str, spec: dict[str, int]) -> int:
    if name in spec:
        return spec[name]
    if text.startswith("--"):
        if kind == "srun":
            return int(OPTIONS.get(name) == "value")
        return int(kind in _CONTAINERS or kind == "mpi")
    return 0
