"""Cells as Slurm prints them: memory, trackable resources (TRES), exit codes, words for none.

Formats: sacct(1) ReqMem, MaxRSS, ReqTRES; squeue(1) ``%m``, ``%b``; tres.html. Slurm's K, M, G are
powers of 1024.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

__all__ = [
    "Memory",
    "gpus",
    "known_text",
    "parse_exit",
    "parse_memory",
    "parse_number",
    "parse_tres",
]

_UNITS = {unit: 1024**power for power, unit in enumerate("BKMGTPE")}
_MEMORY = re.compile(r"(\d{1,20})(?:\.(\d{1,9}))?([BKMGTPE]?)([cn]?)", re.ASCII | re.IGNORECASE)
_NOTHING = frozenset({"", "n/a", "?", "(null)", "none", "unknown", "unlimited"})
_MEMORY_KEYS = ("mem", "vmem", "gres/gpumem", "fs/disk")
_LARGEST = 2**63 - 1
_LONGEST_CACHED = 500


_NO_TEXT = frozenset({"", "(null)", "n/a", "null", "none", "none assigned"})


def known_text(text: str) -> str:
    """The text without blanks around it, "" where it is one of Slurm's words for none."""
    word = text.strip()
    return "" if word.lower() in _NO_TEXT else word


def parse_exit(text: str) -> tuple[int, int] | None:
    """Exit code and signal of ``0:15``; None where the text is not that."""
    code, colon, signal = text.partition(":")
    digits = code.isascii() and signal.isascii() and code.isdecimal() and signal.isdecimal()
    return (int(code), int(signal)) if colon and digits and len(code) < 10 > len(signal) else None


class Memory(NamedTuple):
    """An amount of memory, and what it is meant for each of, where the text says so."""

    size: int
    """Bytes."""
    per: Literal["cpu", "node"] | None


@lru_cache(4096)
def parse_memory(text: str, *, unit: str = "M") -> Memory | None:
    """Read ``4G``, ``4Gc`` (each CPU), ``4000Mn`` (each node), ``1.5T``, ``205508K``.

    Args:
        text: what a tool printed.
        unit: that of a bare number: M in requests, B in usage.

    Returns:
        None where nothing is known; so does 22.05 mean 18446744073709551616.00M, its NO_VAL64.

    Raises:
        ValueError: the text is not an amount of memory.
    """
    word = text.strip()
    if word.lower() in _NOTHING:
        return None
    found = _MEMORY.fullmatch(word)
    if found is None:
        raise ValueError(f"{word[:40]!r} is not an amount of memory such as 4G")
    scale = _UNITS[found[3].upper() or unit]
    size = int(found[1]) * scale
    if found[2]:
        size += int(found[2]) * scale // 10 ** len(found[2])
    if size > _LARGEST:
        return None
    per: Mapping[str, Literal["cpu", "node"]] = {"c": "cpu", "n": "node"}
    return Memory(size, per.get(found[4].lower()))


def parse_number(text: str) -> int | None:
    """A count, perhaps with a unit (squeue prints 2K nodes); None where nothing is known.

    Raises:
        ValueError: the text is not a count.
    """
    amount = parse_memory(text, unit="B")
    return None if amount is None else amount.size


def parse_tres(text: str, *, unit: str = "M") -> dict[str, int]:
    """Read ``cpu=4,mem=16G,node=1,gres/gpu:a100=2``: memory in bytes, all else in counts.

    Also the usage columns (``TRESUsageInTot``); their times ``cpu=00:01:02`` are seconds.

    Args:
        text: what a tool printed.
        unit: of memory without one: M in requests, B in usage.

    Raises:
        ValueError: a part is not a resource.
    """
    return dict(_cached_tres(text, unit)) if len(text) < _LONGEST_CACHED else _tres(text, unit)


@lru_cache(4096)
def _cached_tres(text: str, unit: str) -> Mapping[str, int]:
    return _tres(text, unit)


def _tres(text: str, unit: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, amount = part.strip().rpartition("=")
        if not part.strip() or part.strip().lower() in _NOTHING:
            continue
        if not equals or not re.fullmatch(r"[^\s,=]{1,120}", name):
            raise ValueError(f"{part[:40]!r} is not a resource such as cpu=4")
        size = _amount(name, amount, unit)
        if size is not None:
            found[name] = size
    return found


def _amount(name: str, text: str, unit: str) -> int | None:
    if ":" in text:
        from jobsight.program.submission.times import parse_span

        span = parse_span(text)
        return None if span is None else int(span)
    memory = name in _MEMORY_KEYS
    amount = parse_memory(text, unit=unit if name == "mem" else "B")
    if amount is None or (amount.per and not memory):
        return None
    return amount.size


def gpus(tres: Mapping[str, int]) -> int | None:
    """GPUs of all types; None where none are named.

    Slurm counts ``gres/gpu`` and also each ``gres/gpu:type``; either may be missing.
    """
    if "gres/gpu" in tres:
        return tres["gres/gpu"]
    typed = [count for name, count in tres.items() if name.startswith("gres/gpu:")]
    return sum(typed) if typed else None
