"""Profiles that Slurm's prologs had made on nodes: from their folder into the documents of jobs.

``jobsight-prolog.sh`` leaves a file per job, node and run there; only their content counts, which
is checked as text of strangers. A job's files are taken together once the last one is a minute old:
its nodes end at once. Files go only after the store has them, so a kill loses nothing, and taking
them again gives the same document.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from jobsight.clock import now_micros
from jobsight.documents import JobDocument, Usage, number_of, slurm_id
from jobsight.documents.keys import first_id
from jobsight.program.profile import Profile, joined
from jobsight.store import Store
from jobsight.store.packing import cluster_of

__all__ = ["job_on_node", "keep", "pick_up"]

_MOST_FILES, _MOST_BYTES = 5000, 1 << 16
_SETTLE_S, _UNKNOWN_S = 60.0, 7 * 86400.0
"""A job's last file is so old when they are taken; after the latter, without a job, they go."""

_Class = Literal["cpu", "memory", "io", "network", "gpu", "waiting"]
_CLASSES: tuple[_Class, ...] = get_args(_Class)
_Share = Annotated[float, Meta(ge=0, le=1.001)]
_Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,255}$")]


class _Drawn(msgspec.Struct):
    probability: Annotated[float, Meta(ge=0, le=1)]
    cluster: _Name
    node: _Name


class _Signals(msgspec.Struct):
    wall_s: Annotated[float, Meta(ge=0, le=1e9)]
    capacity: _Share | None
    misses_per_1000: Annotated[float, Meta(ge=0, le=1000)] | None


class _Machine(msgspec.Struct):
    gpus: bool


class _File(msgspec.Struct):
    """What is read of a file (docs/reference/profile.md)."""

    schema: Literal["jobsight.profile/1"]
    source: Literal["sampled"]
    shares: dict[_Class, _Share | None]
    classes: Annotated[list[_Class], Meta(max_length=len(_CLASSES))]
    unmeasured: dict[_Class, Annotated[str, Meta(max_length=500)]]
    signals: _Signals
    machine: _Machine
    slurm: Annotated[int, Meta(ge=1, lt=1 << 32)]
    drawn: _Drawn

    def profile(self) -> Profile:
        """The same; `KeyError`: a share is missing."""
        shares: dict[str, float | None] = {name: self.shares[name] for name in _CLASSES}
        unmeasured = {str(name): why for name, why in self.unmeasured.items()}
        signals = msgspec.to_builtins(self.signals)
        return Profile(self.source, shares, tuple(self.classes), unmeasured, signals)


@dataclass
class _Left:
    """A file that a prolog left, and its age in seconds."""

    path: Path
    age: float
    content: _File


def pick_up(store: Store, folder: Path) -> Counter[str]:
    """Move the profiles that are complete into the store; what became of the files, by word.

    ``saved``; ``too short``: nothing was measured; ``unreadable``: not written by the prolog;
    ``no such job``: for a week the store had no job of this number, or refused it; ``waiting``:
    they stay.

    Raises:
        OSError: the folder cannot be read, or a file not removed.
        StoreError: the store fails.
    """
    done: Counter[str] = Counter()
    jobs: dict[tuple[str, int], list[_Left]] = {}
    for left in _files(folder, done):
        jobs.setdefault((left.content.drawn.cluster, left.content.slurm), []).append(left)
    for (cluster, number), files in jobs.items():
        youngest = min(left.age for left in files)
        word = "no such job" if youngest >= _UNKNOWN_S else "waiting"
        if youngest >= _SETTLE_S and (id_ := job_on_node(store, cluster, str(number))):
            word = _save(store, id_, files) or word
        done[word] += len(files)
        for left in files if word != "waiting" else ():
            left.path.unlink()
    return done


def job_on_node(store: Store, cluster: str, job: str) -> str | None:
    """The newest job of a cluster that is called so; None: there is none.

    Args:
        store: with its document.
        cluster: its name.
        job: ``123_4``, or the number that it has on nodes: tasks of arrays and components of het
            jobs have their own.
    """
    plain = slurm_id(cluster, job)
    ids = [id_ for id_ in store.numbered(number_of(plain)) if cluster_of(id_) == cluster_of(plain)]
    called = [id_ for id_ in ids if first_id(id_) == plain] or [
        id_ for id_, stored in store.get(ids).items() if stored.document.submission.raw_id == job
    ]
    return max(called, key=lambda id_: (len(id_), id_), default=None)


def _save(store: Store, id_: str, files: list[_Left]) -> str | None:
    """Keep the shares of a job, unless those of more nodes are kept.

    Returns:
        What became of the files, in a word of `pick_up`; None: the store refuses the document.
    """
    newest_last = sorted(files, key=lambda left: -left.age)
    nodes = {left.content.drawn.node: left.content for left in newest_last}
    seen = [one for one in nodes.values() if one.classes and one.signals.wall_s > 0]
    profile = None
    if seen:
        gpus = any(one.machine.gpus for one in seen)
        profile = joined([one.profile() for one in seen], gpus=gpus)
    if profile is None or not profile.classes:
        return "too short"
    stored = store.get([id_])[id_].document.usage.bound or {}
    if stored.get("nodes", 0) <= len(seen):
        drawn = newest_last[-1].content.drawn
        if keep(store, id_, profile, nodes=len(seen), probability=drawn.probability):
            return None
    return "saved"


def keep(store: Store, id_: str, profile: Profile, **more: float) -> str | None:
    """Keep what was measured, and how, in the document of a job.

    Returns:
        Why the store refuses it; None: it is kept.
    """
    kept = {name: vars(profile)[name] for name in ("source", "shares", "unmeasured")}
    bound = {**kept, "classes": list(profile.classes), **more}
    merged = store.merge([JobDocument(id=id_, updated=now_micros(), usage=Usage(bound=bound))])
    return merged.refused[0][1] if merged.refused else None


def _files(folder: Path, done: Counter[str]) -> Iterator[_Left]:
    """The files of the prolog; what is none of them is removed if it is old."""
    decoder = msgspec.json.Decoder(_File)
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)[:_MOST_FILES]
    for name in names:
        path = folder / name
        if not name.endswith((".json", ".json.part")):
            continue
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError:  # a link
            done["unreadable"] += 1
            path.unlink()
            continue
        with open(descriptor, "rb") as file:  # noqa: PTH123
            state = os.fstat(descriptor)
            content = file.read(_MOST_BYTES + 1) if stat.S_ISREG(state.st_mode) else b""
        age = max(time.time() - state.st_mtime, 0.0)
        if name.endswith(".part"):  # a writer was killed
            if age > _UNKNOWN_S:
                path.unlink()
            continue
        try:
            left = _Left(path, age, decoder.decode(content if len(content) <= _MOST_BYTES else b""))
            left.content.profile()
        except (msgspec.MsgspecError, KeyError, UnicodeDecodeError):
            done["unreadable"] += 1
            path.unlink()
        else:
            yield left
