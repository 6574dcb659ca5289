"""Which run is best, and ``bestmodel.info``: what is known of it, for people and for scripts."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobsight.errors import SweepError
from jobsight.files import new_file, write_json
from jobsight.learning.sweep.layout import Frozen, Layout, damaged, read_saved
from jobsight.learning.sweep.records import Goal, RunRecord, RunStatus
from jobsight.text import counted, printable

__all__ = [
    "best_of",
    "described",
    "info_text",
    "is_collected",
    "read_best",
    "read_sources",
    "write_best",
]

SCHEMA = "jobsight.best/1"
_WIDTH = 300
_ORDER = (
    *("run", "metric", "goal", "value", "parameters", "epochs", "best_epoch", "seed", "seconds"),
    *("validation", "model", "registry", "question", "sweep", "runs", "versions"),
)
"""Keys as people look for them: what was best, then how good it is, then where it comes from."""


def best_of(records: Sequence[RunRecord], metric: str, goal: Goal) -> RunRecord:
    """The run with the best metric on the validation block; of equal ones the first.

    Raises:
        SweepError: none can be chosen; says why.
    """
    successful = [one for one in records if one.status.successful]
    judged = [one for one in successful if math.isfinite(one.metrics.get(metric, math.nan))]
    if judged:
        choose = max if goal == "maximize" else min
        return choose(judged, key=lambda one: one.metrics[metric])
    if not any(one.status.ended for one in records):
        raise SweepError(
            f"none of {counted(len(records), 'run')} has ended yet; `jobsight sweep status` shows "
            "how far they are"
        )
    if successful:
        known = sorted({name for one in successful for name in one.metrics})
        raise SweepError(
            f"no run has a value of {printable(metric, 60)!r}; the metrics of the runs are "
            f"{', '.join(known) or 'none'}: set `metric` in the config"
        )
    failed = next((one for one in records if one.status is RunStatus.FAILED), records[0])
    raise SweepError(
        f"all runs that ended failed or were dropped; run {failed.run}: "
        f"{printable(failed.cause or 'no cause recorded', _WIDTH)}; widen the search space, or fix "
        "the settings, and name another `folder`"
    )


def read_sources(frozen: Frozen, layout: Layout) -> list[dict[str, Any]]:
    """The files that the history was read from, with their hashes, in order.

    Raises:
        SweepError: a shard was not parsed.
    """
    sources: list[dict[str, Any]] = []
    for shard in frozen.shards:
        missing = f"shard {shard.name} was not parsed; submit the sweep again"
        sources += read_saved(layout.read(shard.name), missing, "submit the sweep again")["sources"]
    return sources


def _data_hash(sources: Sequence[Mapping[str, Any]]) -> str:
    """One SHA-256 for all sources, by their own: hexadecimal digits."""
    text = json.dumps([str(one["sha256"]) for one in sources])
    return hashlib.sha256(text.encode()).hexdigest()


def described(
    frozen: Frozen,
    records: Sequence[RunRecord],
    best: RunRecord,
    sources: Sequence[Mapping[str, Any]],
    model: Mapping[str, Any],
) -> dict[str, Any]:
    """What is known of the best run, as plain data.

    Args:
        frozen: the sweep.
        records: of all its runs.
        best: the one chosen.
        sources: of its history.
        model: of the model directory: ``digest``, ``chosen``, ``reason``, ``path``, ``cluster``,
            ``looks`` at the test part, ``test`` (its metrics by model, baselines among them),
            ``test_examples``, ``test_batches``.
    """
    metric, goal = frozen.metric
    return {
        "schema": SCHEMA,
        "sweep": frozen.digest,
        "question": frozen.question,
        "run": best.run,
        "metric": metric,
        "goal": goal,
        "value": best.metrics[metric],
        "parameters": dict(best.parameters),
        "epochs": len(best.epochs),
        "best_epoch": best.best_epoch,
        "seed": frozen.seed,
        "seconds": best.seconds,
        "validation": dict(best.metrics),
        "runs": _counts(records),
        "data": {"sha256": _data_hash(sources), "sources": [dict(one) for one in sources]},
        "model": dict(model),
        "registry": None,
        "versions": dict(frozen.versions),
    }


def is_collected(frozen: Frozen, layout: Layout, records: Sequence[RunRecord]) -> bool:
    """Whether the best of all runs, as they are now, was found, tested, registered, reported."""
    try:
        facts = read_best(layout)
    except SweepError:
        return False
    current = (facts.get("sweep"), facts.get("runs")) == (frozen.digest, _counts(records))
    return current and facts.get("registry") is not None and layout.report.exists()


def _counts(records: Sequence[RunRecord]) -> dict[str, int]:
    """How many runs ended how."""
    return dict(sorted(Counter(one.status.value for one in records).items()))


def info_text(facts: Mapping[str, Any]) -> str:
    """``bestmodel.info``: a line ``key = value`` each, values as JSON, nested keys with dots."""
    plain = {key: facts[key] for key in _ORDER} | {"data": {"sha256": facts["data"]["sha256"]}}
    lines = [f"{key} = {_json(value)}" for key, value in _flat(plain)]
    names = [_json(one["name"]) for one in facts["data"]["sources"]]
    lines += [f"data.source.{k} = {name}" for k, name in enumerate(names, start=1)]
    return "\n".join(lines) + "\n"


def _json(value: Any) -> str:
    number = isinstance(value, float)
    return "null" if number and not math.isfinite(value) else json.dumps(value)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items() if not name else sorted(value.items()):
            clean = printable(key, 80).replace("=", "_")
            yield from _flat(item, f"{name}.{clean}" if name else clean)
    else:
        yield name, value


def write_best(layout: Layout, facts: Mapping[str, Any]) -> None:
    """Write ``bestmodel.json`` and, last, ``bestmodel.info``.

    Raises:
        OutputError: they cannot be written.
    """
    write_json(layout.best_facts, facts)
    with new_file(layout.best_info) as temporary:
        temporary.write_text(info_text(facts), encoding="utf-8")


def read_best(layout: Layout) -> dict[str, Any]:
    """What `write_best` wrote.

    Raises:
        SweepError: there is no best run yet, or the file is damaged.
    """
    missing = (
        f"{layout.folder} has no best run yet; `jobsight sweep status` shows how far it is, "
        "`jobsight sweep collect` finishes what ended"
    )
    advice = "`jobsight sweep collect` writes it again"
    found = read_saved(layout.best_facts, missing, advice)
    if (schema := found.get("schema")) != SCHEMA:
        why = f"its schema is {printable(schema, 40)!r}, not {SCHEMA!r}"
        raise damaged(layout.best_facts, why, advice)
    return found
