"""Moments and spans as Slurm's tools print them.

Formats: sacct(1), squeue(1), sbatch(1) ``--time``, and ``SLURM_TIME_FORMAT`` of each. All tools of
22.05 to 26.05 take ``SLURM_TIME_FORMAT=%s`` and then print seconds since 1970, which no time zone
can spoil; without it they print local times of the machine they run on.
"""

import datetime as dt
import math
import re
from functools import lru_cache

from jobsight.clock import micros

__all__ = ["NOTHING", "behind", "parse_minutes", "parse_span", "parse_time"]

NOTHING = frozenset({"", "unknown", "none", "n/a", "na", "(null)", "invalid", "partition_limit"})
"""What Slurm prints where there is no time, in lower case."""

_ENDLESS = frozenset({"unlimited", "infinite"})
_DAYS = re.compile(r"(?:(\d{1,9})-)?(\d{1,12}(?::\d{1,12}){0,2})(?:\.(\d{1,9}))?", re.ASCII)
_EPOCH = re.compile(r"\d{1,11}(?:\.\d{1,9})?", re.ASCII)
_LOCAL = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?([+-]\d\d:?\d\d|Z)?", re.ASCII
)


def behind(time: int, submit: int | None) -> int:
    """The time of something that a requeued job did after it was submitted again.

    Slurm reports whole seconds. Within the second of the requeue, what followed it is dated a
    microsecond later; else it would seem to belong to the run before, and the job to wait. So is
    what it dates to an earlier second: to a job cancelled before it started again, 22.05 gives the
    start and the end of the run before.

    Args:
        time: µs since 1970.
        submit: when it was submitted again, likewise; None: not known.
    """
    return time if submit is None or time > submit else submit + 1


@lru_cache(4096)
def parse_span(text: str) -> float | None:
    """Seconds of ``[D-]HH:MM:SS``, ``MM:SS``, ``D-HH[:MM]`` or plain minutes.

    Returns:
        Seconds (fractions where printed), infinity for UNLIMITED, None where nothing is known.

    Raises:
        ValueError: the text is not a span.
    """
    word = text.strip()
    if word.lower() in NOTHING:
        return None
    if word.lower() in _ENDLESS:
        return math.inf
    found = _DAYS.fullmatch(word)
    if found is None:
        raise ValueError(f"{word[:40]!r} is not a span of time such as 1-02:03:04")
    parts = [int(part) for part in found[2].split(":")]
    if found[1] is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
    else:
        hours, minutes, seconds = {1: (0, *parts, 0), 2: (0, *parts), 3: tuple(parts)}[len(parts)]
    whole = int(found[1] or 0) * 86400 + hours * 3600 + minutes * 60 + seconds
    return whole + float(f"0.{found[3]}") if found[3] else float(whole)


def parse_minutes(text: str) -> float | None:
    """Seconds of a count of minutes (``TimelimitRaw``), as `parse_span` gives them.

    Raises:
        ValueError: the text is not a number, nor one of Slurm's words for none or endless.
    """
    if re.fullmatch(r"\d{1,12}", text.strip(), re.ASCII):
        return int(text) * 60.0
    return parse_span(text)


@lru_cache(4096)
def parse_time(text: str, zone: dt.tzinfo, *, again: bool = False) -> int | None:
    """µs since 1970 of seconds since 1970, or of an ISO time read in `zone`.

    The hour that a clock turned back shows twice is read as its first showing, or `again` as its
    second. Zero and the words of `NOTHING` are None, as Slurm means them.

    Raises:
        ValueError: the text is not a time.
    """
    word = text.strip()
    if word.lower() in NOTHING:
        return None
    if _EPOCH.fullmatch(word):
        whole, _, fraction = word.partition(".")
        return (int(whole) * 1_000_000 + int(f"{fraction:0<6}"[:6] or 0)) or None
    if not _LOCAL.fullmatch(word):
        raise ValueError(f"{word[:40]!r} is not a time such as 2026-11-21T01:35:00")
    try:
        moment = dt.datetime.fromisoformat(word)
        found = micros(moment if moment.tzinfo else moment.replace(tzinfo=zone, fold=again))
    except OverflowError:
        raise ValueError(f"{word[:40]!r} is out of range") from None
    return found if found > 0 else None
