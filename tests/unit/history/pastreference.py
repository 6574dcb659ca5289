"""What `jobsight.history.past` computes, in plain Python: each column by its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, isnan, log, log1p, nan
from typing import Any

import numpy as np
import polars as pl

from jobsight.documents import State
from jobsight.history.jobtable import JobTable
from jobsight.history.past import COLUMNS, FAILURES, QUEUE

__all__ = ["lives", "queue_reference", "reference"]


@dataclass(frozen=True)
class End:
    """An outcome, or a cancellation."""

    at: int
    kind: str
    seconds: float | None
    used: int | None
    memory: int | None
    limit: int | None


@dataclass(frozen=True)
class Life:
    """What a job did: spans are (from, to or None), those of runs have a node too."""

    job: dict[str, Any]
    seen: int
    waits: list[tuple[int, int | None]]
    runs: list[tuple[int, int | None, str | None]]
    ends: list[tuple[str | None, End]]


def lives(jobs: JobTable) -> Iterator[Life]:
    changes = jobs.states().with_columns(pl.col("known").to_physical())
    by_row: dict[int, list[dict[str, Any]]] = {}
    for one in changes.to_dicts():
        by_row.setdefault(one["row"], []).append(one)
    table = jobs.table.with_columns(pl.col("seen", "reported").to_physical())
    for row, asked in enumerate(table.to_dicts()):
        yield life(asked, by_row.get(row, []))


def life(asked: dict[str, Any], changes: list[dict[str, Any]]) -> Life:
    found = Life(asked, asked["seen"], [], [], [])
    doing, since, node, last = "wait", asked["seen"], None, None
    for one in changes:
        at, state = one["known"], State(one["state"])
        now = (
            "over" if state.ended else "run" if state.value in ("running", "suspended") else "wait"
        )
        if state.ended and state is not last:
            ran = max((one["time"] - since) / 1e6, 0.0) if doing == "run" else None
            used = asked["max_rss_mb"] if at == asked["reported"] else None
            end = End(at, state.value, ran, used, asked["request_memory_mb"], asked["time_limit_s"])
            found.ends.append((node if doing == "run" else None, end))
        if one["fails"]:
            ran = (at - since) / 1e6 if doing == "run" else None
            end = End(at, "held", ran, None, asked["request_memory_mb"], asked["time_limit_s"])
            found.ends.append((node if doing == "run" else None, end))
        last = state if state.ended else None
        if now != doing:
            close(found, doing, since, at, node)
            doing, since = now, at
            node = one["host"] if now == "run" else node
    close(found, doing, since, None, node)
    return found


def close(found: Life, doing: str, since: int, until: int | None, node: str | None) -> None:
    if doing == "wait":
        found.waits.append((since, until))
    if doing == "run":
        found.runs.append((since, until, node))


def key_of(name: str, asked: dict[str, Any]) -> tuple[Any, ...] | None:
    """The plain meaning of `KEYS`."""
    user = asked["owner"] if asked["owner"] is not None else asked["account"]
    user = None if user is None else (asked["owner"] is not None, user)
    name_, folder = asked["name"], asked["work_dir"]
    thing = asked["script_digest"] if asked["script_digest"] is not None else asked["command"]
    sizes = [asked[f"request_{one}"] for one in ("cpus", "memory_mb", "gpus", "nodes")]
    sizes.append(asked["time_limit_s"])
    request = (asked["partition"], *sizes)
    known_request = None if all(one is None for one in sizes) else request
    pattern = None if name_ is None else re.sub("[0-9]+", "#", name_)
    work = None if name_ is None and thing is None else (name_, folder, thing)
    parts = {
        "all": (), "user": (user,), "account": (asked["account"],),
        "partition": (asked["partition"],), "request": (known_request,), "pattern": (pattern,),
        "script": (thing,), "user and partition": (user, asked["partition"]),
        "user and request": (user, known_request), "user and pattern": (user, pattern),
        "user and name": (user, name_), "user and folder": (user, folder),
        "user and script": (user, thing), "submission": (asked["group"],),
        "node": (asked["host"],), "same again": (user, work, request),
    }[name]  # fmt: skip
    return None if any(part is None for part in parts) else parts


def reference(
    jobs: list[Life], name: str, asked: dict[str, Any], at: int, started: bool, base: float
) -> list[float]:
    key = key_of(name, asked)
    if key is None or (name == "node" and not started):
        return [nan] * len(COLUMNS)
    if name == "node":
        mates, seen, waits = jobs, None, None
        runs = [run for one in jobs for run in one.runs if (run[2],) == key]
        ends = [end for one in jobs for node, end in one.ends if (node,) == key]
    else:
        mates = [one for one in jobs if key_of(name, one.job) == key]
        seen = [one.seen for one in mates if one.seen < at]
        waits = sum(is_in(span, at) for one in mates for span in one.waits)
        runs = [run for one in mates for run in one.runs]
        ends = [end for one in mates for _, end in one.ends]
    ends = sorted((end for end in ends if end.at < at), key=lambda end: end.at)
    found = of_outcomes(ends, asked, at, base)
    found |= {
        "running": log1p(sum(is_in(run[:2], at) for run in runs)),
        "pending": nan if waits is None else log1p(waits),
        "submitted lately": nan if seen is None else log1p(sum(half(at, one, 1) for one in seen)),
        "since submission": log1p((at - max(seen)) / 1e6) if seen else nan,
    }
    return [found[column] for column in COLUMNS]


def queue_reference(jobs: list[Life], name: str, asked: dict[str, Any], at: int) -> list[float]:
    """The columns of `QUEUE`, of jobs that each run once at most."""
    key = key_of(name, asked)
    if key is None:
        return [nan] * len(QUEUE)
    mates = [one for one in jobs if key_of(name, one.job) == key and one.seen < at]
    waiting = [(one, span[0]) for one in mates for span in one.waits if is_in(span, at)]
    running = [(one, run[0]) for one in mates for run in one.runs if is_in(run[:2], at)]
    line = {one.job["id"]: place for place, one in enumerate(mates)}
    place = line.get(asked["id"], len(mates))
    ahead = [one for one, _ in waiting if line[one.job["id"]] < place]
    begun = sorted(
        (run[0], log1p((run[0] - one.seen) / 1e6), work(one))
        for one in mates for run in one.runs if run[0] < at
    )  # fmt: skip
    left = [work(one) - cpus(one) * (at - since) / 1e6 for one, since in running if work(one)]
    lately = [[half(at, start, hours) for start, *_ in begun] for hours in (1, 24)]
    works = [[weight * one[2] / 3600 for weight, one in zip(some, begun, strict=True)]
             for some in lately]  # fmt: skip
    waits = [wait for _, wait, _ in begun]
    found = {
        "pending": log1p(len(waiting)),
        "pending cpus": log1p(sum(cpus(one) for one, _ in waiting)),
        "pending work": log1p(sum(work(one) for one, _ in waiting) / 3600),
        "pending age": log1p(np.mean([(at - since) / 1e6 for _, since in waiting]))
        if waiting else nan,
        "ahead": log1p(len(ahead)),
        "work ahead": log1p(sum(map(work, ahead)) / 3600),
        "share ahead": (len(ahead) + 0.5) / len(waiting) if waiting else nan,
        "running": log1p(len(running)),
        "running cpus": log1p(sum(cpus(one) for one, _ in running)),
        "running left": log1p(max(sum(left), 0) / 3600),
        "starts hour": log1p(sum(lately[0])), "starts day": log1p(sum(lately[1])),
        "work started hour": log1p(sum(works[0])), "work started day": log1p(sum(works[1])),
        "submissions hour": log1p(sum(half(at, one.seen, 1) for one in mates)),
        "since start": log1p((at - begun[-1][0]) / 1e6) if begun else nan,
        "wait": mean(waits, 5), "last wait": waits[-1] if waits else nan,
        "wait hour": float(np.average(waits, weights=lately[0])) if waits else nan,
        "wait day": float(np.average(waits, weights=lately[1])) if waits else nan,
    }  # fmt: skip
    ends = [end for one in mates for _, end in one.ends if end.at < at]
    return [(found | of_runs(ends, asked))[column] for column in QUEUE]


def of_runs(ends: list[End], asked: dict[str, Any]) -> dict[str, float]:
    known = sorted((end for end in ends if end.kind != "cancelled"), key=lambda end: end.at)
    runs = [end.seconds for end in known if end.seconds is not None]
    logs = [log1p(one) for one in runs]
    limits = [(end.seconds, positive(end.limit)) for end in known if end.seconds is not None]
    shares = [min(seconds / limit, 1.0) for seconds, limit in limits if limit > 0]
    mean50 = mean(logs, 50)
    return {
        "last runtime": logs[-1] if runs else nan,
        "last 2 runtimes": log1p(float(np.mean(runs[-2:]))) if runs else nan,
        "runtime": mean(logs, 5), "runtime 50": mean50,
        "runtime spread": mean([(one - mean50) ** 2 for one in logs], 50) ** 0.5,
        "limit against longest": log(positive(asked["time_limit_s"]) / (faded(runs) + 1))
        if runs else nan,
        "share of limit": mean(shares, 5), "share of limit 50": mean(shares, 50),
    }  # fmt: skip


def cpus(one: Life) -> float:
    asked = positive(one.job["request_cpus"])
    return 1.0 if isnan(asked) else asked


def work(one: Life) -> float:
    limit = positive(one.job["time_limit_s"])
    return 0.0 if isnan(limit) else cpus(one) * limit


def is_in(span: tuple[int, int | None], at: int) -> bool:
    return span[0] < at and not (span[1] is not None and span[1] < at)


def half(at: int, then: int, hours: float) -> float:
    return exp(-log(2) * (at - then) / (hours * 3600e6))


def of_outcomes(ends: list[End], asked: dict[str, Any], at: int, base: float) -> dict[str, float]:
    outcomes = [end for end in ends if end.kind in ("completed", *FAILURES)]
    failed = [end.kind != "completed" for end in outcomes]
    streak = next((k for k, one in enumerate(failed[::-1]) if one != failed[-1]), len(failed))
    failures = [end.at for end, one in zip(outcomes, failed, strict=True) if one]
    found = {
        "outcomes": log1p(len(outcomes)),
        "last": float(failed[-1]) if failed else nan,
        "streak": (log1p(streak) if failed[-1] else -log1p(streak)) if failed else nan,
        "since end": log1p((at - outcomes[-1].at) / 1e6) if outcomes else nan,
        "since failure": log1p((at - failures[-1]) / 1e6) if failures else nan,
        "cancelled": mean([float(end not in outcomes) for end in ends], 50),
        "timeouts": mean([float(end.kind == "timeout") for end in outcomes], 50),
        "out of memory": mean([float(end.kind == "out_of_memory") for end in outcomes], 50),
        "node failures": mean([float(end.kind == "node_fail") for end in outcomes], 50),
    }
    ages = range(len(failed))[::-1]
    for column, weights in {
        "rate": [1.0] * len(failed),
        "rate 5": [0.5 ** (age / 5) for age in ages],
        "rate 50": [0.5 ** (age / 50) for age in ages],
        "rate hour": [half(at, end.at, 1) for end in outcomes],
        "rate day": [half(at, end.at, 24) for end in outcomes],
        "rate week": [half(at, end.at, 168) for end in outcomes],
    }.items():
        weight = sum(weight for weight, one in zip(weights, failed, strict=True) if one)
        found[column] = (weight + 2 * base) / (sum(weights) + 2)
    return found | of_requests(outcomes, asked)


def of_requests(outcomes: list[End], asked: dict[str, Any]) -> dict[str, float]:
    memory, limit = positive(asked["request_memory_mb"]), positive(asked["time_limit_s"])
    runs = [(end.seconds, positive(end.limit)) for end in outcomes if end.seconds is not None]
    used, longest = faded([end.used for end in outcomes if end.used]), faded([s for s, _ in runs])
    last = outcomes[-1] if outcomes else None
    return {
        "runtime": mean([log1p(seconds) for seconds, _ in runs], 5),
        "limit against runtime": log(limit / (longest + 1)) if runs else nan,
        "share of limit": mean([min(s / most, 1.0) for s, most in runs if not isnan(most)], 5),
        "memory against peak": log(memory / used) if used else nan,
        "memory against last": log(memory / positive(last.memory)) if last else nan,
        "limit against last": log(limit / positive(last.limit)) if last else nan,
    }


def mean(values: list[float], halved_by: float) -> float:
    """Weights are halved by so many further values."""
    weights = [0.5 ** (age / halved_by) for age in range(len(values))[::-1]]
    return float(np.dot(weights, values)) / sum(weights) if values else nan


def faded(values: list[Any]) -> float:
    return float(max((value * 0.95**k for k, value in enumerate(values[::-1])), default=0.0))


def positive(value: int | None) -> float:
    return float(value) if value is not None and value > 0 else nan
