"""The folder of a sweep as the data of its report. Damage is reported, never fatal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jobsight.clock import format_micros
from jobsight.errors import JobsightError
from jobsight.files import read_json
from jobsight.learning.sweep.best import read_best
from jobsight.learning.sweep.layout import Frozen, Layout, read_frozen
from jobsight.learning.sweep.parameters import ConfigProblem, Parameter, parse
from jobsight.learning.sweep.records import Goal, RunRecord, RunStatus, read_all
from jobsight.reports.sweep.data import Examination, Run, SweepData
from jobsight.reports.sweep.scales import LARGEST, Floats
from jobsight.text import counted, printable

__all__ = ["read_data"]

_MOST_SOURCES = 20
_STATUSES = {RunStatus.STOPPED: "running", RunStatus.UNREADABLE: "waiting"}


def read_data(folder: Path) -> SweepData:
    """What a sweep's folder holds, however far the sweep is.

    Raises:
        SweepError: it is no sweep's folder, or its frozen config is damaged.
    """
    layout = Layout(folder)
    frozen = read_frozen(folder)
    metric, goal = frozen.metric
    records = read_all(layout.runs)
    notes = _notes(records)
    facts = _optional(lambda: read_best(layout), layout.best_facts, notes)
    model = facts.get("model")
    chosen = facts.get("run")
    data = SweepData(
        name=layout.name,
        config=frozen.config,
        metric=printable(metric, 60),
        maximize=goal == "maximize",
        runs=_all_runs(records, metric, goal, frozen.runs),
        space=_space(frozen, notes),
        chosen=chosen if isinstance(chosen, int) else None,
        test=_test(
            layout,
            frozen.config.get("model"),
            model if isinstance(model, Mapping) else {},
            notes,
        ),
        provenance=_provenance(frozen, layout, facts),
        notes=notes,
    )
    later = replace(data, chosen=None)
    if data.test and later.best is not None and later.best != data.best:
        notes.append(
            f"Run {later.runs[later.best].number} did better since the test; `jobsight sweep "
            "collect` goes by it"
        )
    return data


def _space(frozen: Frozen, notes: list[str]) -> tuple[Parameter, ...]:
    try:
        return parse(frozen.config.get("parameters"))
    except ConfigProblem as error:
        notes.append(f"What was searched is not known: {printable(error, 300)}")
        return ()


def _optional(read: Callable[[], Any], path: Path, notes: list[str]) -> dict[str, Any]:
    """What a file that need not be there holds; a note where it is there and damaged."""
    if not path.exists():
        return {}
    try:
        found = read()
    except (JobsightError, OSError, ValueError) as error:
        notes.append(printable(error, 300))
        return {}
    return found if isinstance(found, dict) else {}


def _test(
    layout: Layout, network: object, model: Mapping[str, Any], notes: list[str]
) -> Examination | None:
    """The report of the best run's model, from its directory, else from what was said of it."""
    path = layout.best_model / "report.json"
    report = _optional(lambda: read_json(path, dict), path, notes)
    if not report and isinstance(model.get("test"), Mapping):
        report = {key: model.get(key) for key in ("chosen", "loss")} | {"models": model["test"]}
    if not isinstance(report.get("models"), Mapping):
        return None
    looks = model.get("looks")
    return Examination(
        report,
        network=printable(network, 60),
        reason=printable(model.get("reason") or "", 600),
        looks=looks if isinstance(looks, int) else 1,
    )


def _notes(records: list[RunRecord]) -> list[str]:
    notes = []
    unread = [one for one in records if one.status is RunStatus.UNREADABLE]
    if unread:
        notes.append(f"{counted(len(unread), 'record')} cannot be read: {unread[0].cause}")
    skipped = sum(one.skipped for one in records)
    if skipped:
        notes.append(f"{counted(skipped, 'damaged line')} of the records left out")
    return notes


def _all_runs(records: list[RunRecord], metric: str, goal: Goal, count: int) -> list[Run]:
    """Every run of the sweep, those that have no folder among them."""
    # The folder's name gives the number, whatever its record says.
    started = {int(one.folder.name): _run(one, metric, goal) for one in records}
    missing = (number for number in range(1, count + 1) if number not in started)
    return sorted(
        [*started.values(), *(Run(number, "waiting") for number in missing)],
        key=lambda run: run.number,
    )


def _run(record: RunRecord, metric: str, goal: Goal) -> Run:
    best = record.best(metric, goal)
    ended = record.status.ended
    columns = record.epochs.columns
    nothing = np.full(len(record.epochs), np.nan)
    return Run(
        number=int(record.folder.name),
        status=_STATUSES.get(record.status, record.status.value),
        parameters={printable(key, 80): value for key, value in record.parameters.items()},
        metric=None if best is None or record.status is RunStatus.FAILED else best.value,
        cause=record.cause,
        epochs=record.epochs.number,
        train=_losses(columns.get("train_loss", nothing)),
        select=_losses(columns.get("select_loss", nothing)),
        epoch_seconds=columns.get("seconds", nothing),
        best_epoch=record.best_epoch if ended or best is None else best.epoch,
        repeated=record.repeated,
        attempts=record.history,
        seconds=record.seconds or None,
        cpu_seconds=record.cpu_seconds,
        peak_bytes=record.peak_bytes or None,
    )


def _losses(values: Floats) -> Floats:
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def _provenance(frozen: Frozen, layout: Layout, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [("Sweep", f"{frozen.digest} of the question {frozen.question}, seed {frozen.seed}")]
    sources = []
    for shard in frozen.shards:
        path = layout.read(shard.name)
        parsed = _optional(partial(read_json, path, dict), path, [])
        if isinstance(parsed.get("sources"), list):
            sources += [one for one in parsed["sources"] if isinstance(one, Mapping)]
        if isinstance(parsed.get("first"), int) and isinstance(parsed.get("last"), int):
            rows.append((f"History, {printable(shard.name, 40)}", _read_words(parsed)))
    for source in sources[:_MOST_SOURCES]:
        digest = printable(source.get("sha256", "unknown"), 80)
        rows.append((f"Read: {printable(source.get('name', ''), 120)}", f"SHA-256 {digest}"))
    if len(sources) > _MOST_SOURCES:
        rows.append(("Read", f"{len(sources) - _MOST_SOURCES} more files"))
    model = facts.get("model")
    if isinstance(model, Mapping) and model.get("digest"):
        rows.append(("Best model", printable(model["digest"], 80)))
    registry = facts.get("registry")
    if isinstance(registry, Mapping):
        place = printable(registry.get("cluster", ""), 80)
        role = "champion" if registry.get("champion") else "challenger"
        rows.append(("Registry", f"{role} of {place}"))
    versions = (f"{name} {version}" for name, version in frozen.versions.items())
    rows.append(("Versions", printable(", ".join(versions), 600) or "unknown"))
    return rows


def _read_words(parsed: Mapping[str, Any]) -> str:
    return printable(
        f"{parsed.get('events', '?'):,} events of {parsed.get('jobs', '?'):,} jobs, from "
        f"{format_micros(parsed['first'])} to {format_micros(parsed['last'])}"
        if isinstance(parsed.get("events"), int) and isinstance(parsed.get("jobs"), int)
        else f"from {format_micros(parsed['first'])} to {format_micros(parsed['last'])}",
        200,
    )
