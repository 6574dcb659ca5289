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
    data = SweepData(
        name=layout.name,
        config=frozen.config,
        metric=printable(metric, 60),
        maximize=goal == "maximize",
        runs=_all_runs(records, metric, goal, frozen.runs),
        space=_space(frozen, notes),
        chosen=facts.get("run"),
        test=_test(layout, frozen.config["model"], facts.get("model", {}), notes),
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


def _optional(read: Callable[[], dict[str, Any]], path: Path, notes: list[str]) -> dict[str, Any]:
    """What a file that need not be there holds; a note where it is there and damaged."""
    if not path.exists():
        return {}
    try:
        return read()
    except (JobsightError, OSError, ValueError) as error:
        notes.append(printable(error, 300))
        return {}


def _test(
    layout: Layout, network: str, model: Mapping[str, Any], notes: list[str]
) -> Examination | None:
    """The report of the best run's model, from its directory, else from what was said of it."""
    path = layout.best_model / "report.json"
    report = _optional(lambda: read_json(path, dict), path, notes)
    if not report and "test" in model:
        report = {key: model[key] for key in ("chosen", "loss")} | {"models": model["test"]}
    if not report:
        return None
    reason = printable(model.get("reason", ""), 600)
    return Examination(report, network, reason, looks=model.get("looks", 1))


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
        train=columns.get("train_loss", nothing),
        select=columns.get("select_loss", nothing),
        epoch_seconds=columns.get("seconds", nothing),
        best_epoch=record.best_epoch if ended or best is None else best.epoch,
        repeated=record.repeated,
        attempts=record.history,
        seconds=record.seconds or None,
        cpu_seconds=record.cpu_seconds,
        peak_bytes=record.peak_bytes or None,
    )


def _provenance(frozen: Frozen, layout: Layout, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [("Sweep", f"{frozen.digest} of the question {frozen.question}, seed {frozen.seed}")]
    sources = []
    for shard in frozen.shards:
        path = layout.read(shard.name)
        parsed = _optional(partial(read_json, path, dict), path, [])
        sources += parsed.get("sources", [])
        if parsed.get("first") is not None:
            first, last = (format_micros(parsed[end]) for end in ("first", "last"))
            words = (
                f"{parsed['events']:,} events of {parsed['jobs']:,} jobs, from {first} to {last}"
            )
            rows.append((f"History, {printable(shard.name, 40)}", words))
    rows += [
        (f"Read: {printable(source['name'], 120)}", f"SHA-256 {source['sha256']}")
        for source in sources[:_MOST_SOURCES]
    ]
    if len(sources) > _MOST_SOURCES:
        rows.append(("Read", f"{len(sources) - _MOST_SOURCES} more files"))
    if model := facts.get("model"):
        rows.append(("Best model", model["digest"]))
    if registry := facts.get("registry"):
        role = "champion" if registry["champion"] else "challenger"
        rows.append(("Registry", f"{role} of {printable(registry['cluster'], 80)}"))
    versions = (f"{name} {version}" for name, version in frozen.versions.items())
    rows.append(("Versions", printable(", ".join(versions), 600) or "unknown"))
    return rows
