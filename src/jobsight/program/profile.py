"""Which resource bound a run: shares of its wall time, from samples or from accounting.

Pure functions; `jobsight.program.sampling` makes the windows. What a share means, and where each
threshold comes from, is in docs/reference/profile.md.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobsight.documents import JobDocument, State

__all__ = [
    "CLASSES",
    "MISSES",
    "SCHEMA",
    "THRESHOLDS",
    "WINDOW",
    "Profile",
    "Timeline",
    "Window",
    "accounted",
    "joined",
    "measured",
    "profile_of",
    "stall_part",
    "window_shares",
]

SCHEMA = "jobsight.profile/1"
CLASSES = ("cpu", "memory", "io", "network", "gpu", "waiting")
THRESHOLDS = {"on_cpu": 0.7, "io": 0.3, "network": 0.3, "capacity": 0.1}
"""Shares from which on a resource may be the class."""
LEAST_SECONDS = 2.0
"""Of a run, for a class."""
MISSES = (3.0, 10.0)
"""Last-level cache misses per 1000 instructions: cpu below the first, memory from the second on."""
MISS_CYCLES = 100
"""Stall of one last-level miss, in the time of so many instructions: KCachegrind's CEst."""
LEAST_RATE, LEAST_OPENED, NEAR = 1000.0, 1.0, 5.0
"""Waiting for a connection is network where so many bytes per second move, or connections are
opened, in so many seconds around."""
WINDOW = 1.0
"""Seconds of the shortest window."""
_MOST_WINDOWS = 1024
_SPLIT = "its part of cpu is unknown"
_GPU_REASON = "no gpu counters were read; its part of waiting and cpu is unknown"
_ACCOUNTING = "accounting does not report it; its part of waiting is unknown"


@dataclass(frozen=True)
class Window:
    """A part of a run.

    Attributes:
        seconds: of wall time.
        on_cpu, queued, io, sockets, capacity: process-seconds on a CPU, in the run queue, waiting
            for a disk, for a remote socket, for pages that were swapped out.
        cpu_s: CPU seconds; more than `on_cpu` where threads ran at once.
        moved, opened: bytes through remote TCP connections, and new ones.
        read, written: bytes from and to disks.
        resident: bytes, the largest seen, of all processes.
        instructions, misses: counted by hardware; None: they were not.
    """

    seconds: float
    on_cpu: float = 0.0
    queued: float = 0.0
    io: float = 0.0
    sockets: float = 0.0
    capacity: float = 0.0
    cpu_s: float = 0.0
    moved: int = 0
    opened: int = 0
    read: int = 0
    written: int = 0
    resident: int = 0
    instructions: float | None = None
    misses: float | None = None

    def __add__(self, other: Window) -> Window:
        both = {
            name: None if value is None or (add := vars(other)[name]) is None else value + add
            for name, value in vars(self).items()
        }
        return Window(**{**both, "resident": max(self.resident, other.resident)})  # type: ignore[arg-type]


class Timeline:
    """The windows of a run of any length: at most 1024, each twice as long once that is reached."""

    def __init__(self) -> None:
        self.windows: list[Window] = []
        self._open = Window(0.0, instructions=0.0, misses=0.0)
        self._shortest = WINDOW

    def add(self, window: Window) -> None:
        """Append a window; short ones are joined."""
        self._open += window
        if self._open.seconds >= self._shortest * 0.95:
            self.close()
        if len(self.windows) >= _MOST_WINDOWS:
            pairs = zip(self.windows[::2], self.windows[1::2], strict=True)
            self.windows = [first + second for first, second in pairs]
            self._shortest *= 2

    @property
    def begun(self) -> bool:
        """Whether any window was appended."""
        return bool(self.windows) or self._open.seconds > 0

    def close(self) -> None:
        """Append what is too short for a window, if there is any."""
        if self._open.seconds > 0:
            self.windows.append(self._open)
        self._open = Window(0.0, instructions=0.0, misses=0.0)


@dataclass(frozen=True)
class Profile:
    """What bound a run.

    Attributes:
        source: sampled, or accounting (coarser).
        shares: of wall time less run-queue wait, by class; those that are measured add up to 1.
        classes: what the run may be bound by: one if the measurement decides, none if the run was
            too short or was never seen running.
        unmeasured: by class without a share, the reason.
        signals: what the shares rest on, by name; None: not measured.
    """

    source: str
    shares: dict[str, float | None]
    classes: tuple[str, ...]
    unmeasured: dict[str, str]
    signals: dict[str, Any] = field(default_factory=dict)

    def document(self, **more: Any) -> dict[str, Any]:
        """The JSON object of docs/reference/profile.md.

        Args:
            more: what else is in it: the command, the machine.
        """
        return {"schema": SCHEMA, **vars(self), "classes": list(self.classes), **more}


def window_shares(windows: Sequence[Window]) -> list[dict[str, float]]:
    """Seconds by kind for each window: on_cpu, io, network, capacity and waiting.

    The processes of a window that do anything share its wall time equally; where they do less than
    fills it, the rest is waiting. Time in the run queue is left out, so the sum of a window's
    seconds is its wall time less that.
    """
    return [_split(one, networked=_moves(windows, at)) for at, one in enumerate(windows)]


def _split(window: Window, *, networked: bool) -> dict[str, float]:
    kinds = {
        "on_cpu": window.on_cpu,
        "io": window.io,
        "network": window.sockets if networked else 0.0,
        "capacity": window.capacity,
    }
    active = sum(kinds.values()) + window.queued
    scale = window.seconds / active if active > window.seconds else 1.0
    found = {kind: seconds * scale for kind, seconds in kinds.items()}
    return {**found, "waiting": max(window.seconds - active * scale, 0.0)}


def _moves(windows: Sequence[Window], at: int) -> bool:
    """Whether bytes move through connections about then, or many are opened.

    What short connections move is mostly not seen.
    """
    moved = opened = seconds = 0.0
    for step in (-1, 1):
        away, k = 0.0, at if step < 0 else at + 1
        while 0 <= k < len(windows) and away < NEAR:
            moved, opened = moved + windows[k].moved, opened + windows[k].opened
            seconds += windows[k].seconds
            away, k = away + windows[k].seconds, k + step
    return seconds > 0 and (moved >= LEAST_RATE * seconds or opened >= LEAST_OPENED * seconds)


def stall_part(misses: float, instructions: float) -> float:
    """The estimated part of time on a CPU that waits for memory, in [0, 1).

    KCachegrind's cycle estimation (CEst) counts a last-level miss like 100 instructions.
    """
    stalls = MISS_CYCLES * max(misses, 0.0)
    return stalls / (stalls + instructions) if instructions > 0 else 0.0


def measured(
    windows: Sequence[Window],
    *,
    missing: Mapping[str, str],
    counted: tuple[float, float] | None = None,
    gpus: bool = False,
) -> Profile:
    """The profile of a sampled run.

    Args:
        windows: in their order.
        missing: memory (last-level misses) or network → why it was not measured.
        counted: misses and instructions of the same command, counted in another run.
        gpus: whether the machine has any.
    """
    seconds: dict[str, float] = {}
    stalled = 0.0
    elsewhere, counted = counted, counted or _counted(windows)
    for window, split in zip(windows, window_shares(windows), strict=True):
        seconds = {kind: seconds.get(kind, 0.0) + value for kind, value in split.items()}
        if counted:
            misses, instructions = elsewhere or (window.misses or 0.0, window.instructions or 0.0)
            stalled += split["on_cpu"] * stall_part(misses, instructions)
    total = sum(seconds.values())
    parts = {kind: value / total for kind, value in seconds.items()} if total > 0 else {}
    unmeasured = {"gpu": _GPU_REASON, **missing}
    if counted is None:
        unmeasured.setdefault("memory", _SPLIT)
    else:
        unmeasured.pop("memory", None)
    per_1000 = counted and 1000 * counted[0] / counted[1]
    signals = _signals(windows, parts, per_1000)
    if not parts:
        never = dict.fromkeys(CLASSES, "it never ran")
        return Profile("sampled", dict.fromkeys(CLASSES), (), never, signals)
    memory = parts["capacity"] + stalled / total
    shares: dict[str, float | None] = {
        "cpu": max(parts["on_cpu"] - stalled / total, 0.0) + (0 if counted else parts["capacity"]),
        "memory": memory if counted else None,
        "io": parts["io"],
        "network": None if "network" in missing else parts["network"],
        "gpu": None,
        "waiting": parts["waiting"] + (parts["network"] if "network" in missing else 0.0),
    }
    wall = sum(window.seconds for window in windows)
    classes = _classes(parts, per_1000, unmeasured, gpus=gpus) if wall >= LEAST_SECONDS else ()
    return Profile("sampled", shares, classes, unmeasured, signals)


def joined(profiles: Sequence[Profile], *, gpus: bool) -> Profile:
    """The profile of a job from those of its nodes, each counted by its wall time.

    A share that was not measured on one of them is not known of the job: it is in another one.

    Args:
        profiles: of runs that were sampled and have shares; one at least.
        gpus: whether any of the nodes has some.
    """
    walls = [profile.signals["wall_s"] for profile in profiles]
    wall = sum(walls)

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(map(operator.mul, known, walls)) / wall if len(known) == len(values) else None

    rows = [dict(profile.shares) for profile in profiles]
    for name, rest in (("memory", "cpu"), ("network", "waiting")):
        if any(row[name] is None for row in rows):
            for row in rows:
                row[rest], row[name] = (row[rest] or 0.0) + (row[name] or 0.0), None
    shares = {name: mean([row[name] for row in rows]) for name in CLASSES}
    unmeasured = {name: why for profile in profiles for name, why in profile.unmeasured.items()}
    capacity = mean([profile.signals["capacity"] for profile in profiles]) or 0.0
    per_1000 = mean([profile.signals["misses_per_1000"] for profile in profiles])
    parts = {
        "on_cpu": (shares["cpu"] or 0.0) + (shares["memory"] or 0.0) - capacity,
        "io": shares["io"] or 0.0,
        "network": shares["network"] or 0.0,
        "capacity": capacity,
    }
    classes = _classes(parts, per_1000, unmeasured, gpus=gpus) if wall >= LEAST_SECONDS else ()
    signals = {"wall_s": wall, "capacity": capacity, "misses_per_1000": per_1000}
    return Profile("sampled", shares, classes, unmeasured, signals)


def _counted(windows: Sequence[Window]) -> tuple[float, float] | None:
    misses = instructions = 0.0
    for window in windows:
        if window.misses is None or window.instructions is None:
            return None
        misses, instructions = misses + window.misses, instructions + window.instructions
    return (misses, instructions) if instructions > 0 else None


def _classes(
    parts: Mapping[str, float],
    per_1000: float | None,
    unmeasured: Mapping[str, str],
    *,
    gpus: bool,
) -> tuple[str, ...]:
    """The kind furthest above its threshold, with what the measurement cannot tell from it."""
    over = {kind: parts[kind] / least for kind, least in THRESHOLDS.items()}
    if "network" in unmeasured:
        over["network"] = 0.0
    kind = max(over, key=lambda name: over[name])
    if over[kind] < 1:
        found = ["waiting"]
        if "network" in unmeasured and 1 - parts["on_cpu"] - parts["io"] >= THRESHOLDS["network"]:
            found.insert(0, "network")
    elif kind == "on_cpu":
        low, high = MISSES
        found = ["cpu"] if per_1000 is None or per_1000 < high else []
        found += ["memory"] if per_1000 is None or per_1000 >= low else []
    else:
        found = ["memory" if kind == "capacity" else kind]
    return tuple(found + ["gpu"] * (gpus and kind not in ("io", "capacity")))


def _signals(
    windows: Sequence[Window], parts: Mapping[str, float], per_1000: float | None
) -> dict[str, Any]:
    whole = sum(windows, Window(0.0, instructions=0.0, misses=0.0))
    return {
        "wall_s": round(whole.seconds, 3),
        "cpu_s": round(whole.cpu_s, 3),
        "cores": round(whole.cpu_s / whole.seconds, 3) if whole.seconds else None,
        "queued_s": round(whole.queued, 3),
        "capacity": parts.get("capacity"),
        "read_bytes": whole.read,
        "written_bytes": whole.written,
        "socket_bytes": whole.moved,
        "connections": whole.opened,
        "resident_bytes": whole.resident,
        "misses_per_1000": per_1000,
    }


def profile_of(document: JobDocument) -> Profile | None:
    """What was measured of a job, else what its scheduler's accounting says."""
    own: Any = document.usage.bound
    if own is not None:
        return Profile(own["source"], own["shares"], tuple(own["classes"]), own["unmeasured"])
    return accounted(document)


def accounted(document: JobDocument) -> Profile | None:
    """The coarse profile that a scheduler's accounting gives; None: it reports too little.

    Of a job whose node failed, what its last run used was lost with the node.

    `cpu` is the busy part of the allocated CPUs, as Jobstats and SUPReMM count it; the rest of the
    shares is waiting. A job that keeps one of several CPUs busy may be bound by it, so all classes
    are left where the CPUs are idle but at least one is busy.
    """
    usage = document.usage
    wall, cpus = usage.wall_s, usage.cpus or document.request.cpus or 1
    if usage.cpu_s is None or not wall or wall <= 0 or document.state is State.NODE_FAIL:
        return None
    cores = usage.cpu_s / wall
    busy = min(max(cores / max(cpus, 1), 0.0), 1.0)
    shares = {**dict.fromkeys(CLASSES), "cpu": busy, "waiting": 1 - busy}
    unmeasured = {**dict.fromkeys(("io", "network", "gpu"), _ACCOUNTING), "memory": _SPLIT}
    on_cpu, rest = ["cpu", "memory"], ["io", "network", "waiting"]
    idle = cores < THRESHOLDS["on_cpu"]
    classes = on_cpu if busy >= THRESHOLDS["on_cpu"] else rest if idle else on_cpu + rest
    moved = {"read_mb": usage.read_mb, "written_mb": usage.written_mb, "memory_mb": usage.memory_mb}
    return Profile(
        "accounting",
        shares,
        tuple(classes + ["gpu"] * bool(usage.gpus)) if wall >= LEAST_SECONDS else (),
        unmeasured,
        {"wall_s": wall, "cpu_s": usage.cpu_s, "cores": round(cores, 3), "cpus": cpus, **moved},
    )
