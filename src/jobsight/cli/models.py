"""``jobsight models``: the registry: which models there are, and which of them answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.answering.models import entry_named
from jobsight.cli.common import ConfigOption, JsonOption, TimezoneOption, load_settings
from jobsight.cli.output import answer, say
from jobsight.cli.terminal import fold, table
from jobsight.errors import UsageError
from jobsight.format import UNKNOWN, interval, moment, number
from jobsight.learning.asked import question_named
from jobsight.learning.manifest import read_manifest
from jobsight.learning.registry import (
    Registry,
    best_baseline,
    listed,
    read_report,
    rejections,
    shown,
    whole,
)
from jobsight.reports.scores import HEADINGS, verdict
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.learning.registry import Entry, Registry
    from jobsight.reports.overview import Overview

__all__ = [
    "ModelArgument",
    "ModelClusterOption",
    "QuestionOption",
    "WhyOption",
    "comparison_text",
    "later_moments",
    "list_",
    "listing",
    "of_one_cluster",
    "page",
    "remove",
    "say_overview",
    "scores_table",
    "show",
    "side_by_side",
    "side_by_side_text",
]

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Digits that its digest begins with, champion, or champion:CLUSTER.",
        show_default=False,
    ),
]
QuestionOption = Annotated[
    str | None, typer.Option(help="The question that it answers (default: any).")
]
ModelClusterOption = Annotated[str | None, typer.Option(help="Whose models (default: any).")]
WhyOption = Annotated[str, typer.Option(help="Why, in your words; kept for good.")]


def list_(
    question: Annotated[str | None, typer.Option(help="Only of this question.")] = None,
    cluster: ModelClusterOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which models are there? One row a model; champions are marked."""
    settings = load_settings(config, {"timezone": timezone})
    rows = [listed(entry) for entry in Registry(settings.registry).entries(question, cluster)]
    none = f"no model is in the registry {settings.registry}; `jobsight train` puts one there"
    answer(rows, lambda: listing(rows) if rows else none, as_json=as_json)


def show(
    model: ModelArgument,
    question: QuestionOption = None,
    cluster: ModelClusterOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """What is it made of, how good was it, and when was it champion?"""
    registry = Registry(load_settings(config, {"timezone": timezone}).registry)
    entry = entry_named(registry, model, question, cluster)
    found = shown(entry, registry.history(entry.question, entry.cluster))
    answer(found, lambda: page(found), as_json=as_json)


def remove(
    model: ModelArgument,
    question: QuestionOption = None,
    cluster: ModelClusterOption = None,
    why: WhyOption = "",
    force: Annotated[bool, typer.Option("--force", help="Even if it is the champion.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a model; that it was there stays on record."""
    registry = Registry(load_settings(config, {}).registry)
    entry = of_one_cluster(registry, entry_named(registry, model, question, cluster), cluster)
    registry.remove(entry, force=force, why=why)
    removed = {"removed": entry.digest, "question": entry.question, "cluster": entry.cluster}
    text = f"removed {entry.digest}, {entry.question} for {printable(entry.cluster, 60)}"
    answer(removed, text, as_json=as_json)


def of_one_cluster(registry: Registry, entry: Entry, cluster: str | None) -> Entry:
    """The entry, if no other cluster has the same model, or the user said which one is meant.

    Raises:
        UsageError: it must be said which one.
    """
    having = {one.cluster for one in registry.entries(entry.question) if one.digest == entry.digest}
    if cluster is None and len(having) > 1:
        names = ", ".join(printable(name, 40) for name in sorted(having))
        raise UsageError(f"{entry.digest} is a model of {names}; say which with --cluster")
    return entry


_SPARE = (
    *("avg. prec.", "F1 of failure", "log10 MSE", "within 3", "width", "best baseline", "95 %"),
    *("by chance", "ECE", "F1", "Brier", "within 2", "distance"),
)
"""Columns of scores that a narrow terminal does without, the first of them first."""
_SETTINGS = 4000
"""Characters of the settings that a page shows."""


def listing(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as a table of text; a star marks a champion."""
    headings = ["digest", "question", "cluster", "model", "batches", "loss", "best baseline"]
    lines = [
        [
            f"{row['digest']}{' *' if row['champion'] else ''}",
            printable(row["question"], 20),
            printable(row["cluster"], 40),
            printable(row["model"], 20) if row["damaged"] is None else "damaged",
            UNKNOWN if row["batches"] is None else str(row["batches"]),
            number(row["loss"]),
            _baseline_text(row["best_baseline"]),
            moment(row["added"]),
            printable(row["by"], 40),
        ]
        for row in rows
    ]
    below = [f"damaged: {printable(row['damaged'])}" for row in rows if row["damaged"]]
    below += [fold(f"{row['digest']}  {printable(text, 400)}", 10)
              for row in rows for text in row["rejected"]]  # fmt: skip
    spare = ["by", "question", "batches", "best baseline", "loss"]
    left = ["question", "cluster", "model", "added", "by"]
    return "\n".join([table([*headings, "added", "by"], lines, spare, left=left), *below])


def _baseline_text(best: dict[str, Any] | None) -> str:
    if best is None or best["name"] is None:
        return UNKNOWN
    return f"{number(best['loss'])} ({printable(best['name'], 20)})"


def page(model: dict[str, Any]) -> str:
    """What `shown` returned, as text."""
    where = f"{printable(model['question'], 20)} for {printable(model['cluster'], 60)}"
    champion = ", champion" if model["champion"] else ""
    head = [
        f"{model['digest']}  {printable(model['model'], 20)}, {where}{champion}",
        f"  added   {moment(model['added'])} by {printable(model['by'], 60)}",
        *([fold(f"  why     {printable(model['why'], 200)}", 10)] if model["why"] else []),
        f"  folder  {printable(model['folder'])}",
    ]
    with whole(model["folder"]):
        return "\n".join([*head, "", *_quality(model["report"]), "", *map(fold, _origin(model))])


def _quality(report: dict[str, Any]) -> Iterator[str]:
    yield fold(verdict(report))
    yield f"on its test part: {_counts(report, report['words'])}"
    yield scores_table(report)
    yield from later_moments(report)
    yield from (fold(printable(text, 400)) for text in rejections(report))
    gain = report["models"][report["chosen"]].get(f"{report['loss']}_gain")
    if gain is not None and gain["value"] is not None:
        yield (
            f"loss less that of the best baseline: {number(gain['value'], signed=True)} "
            f"({number(gain['low'])} to {number(gain['high'])})"
        )
    coverage = report.get("interval_coverage")
    if coverage is not None:
        yield f"observations within its intervals: {float(coverage):.0%}"


def _origin(found: dict[str, Any]) -> Iterator[str]:
    facts = found["facts"] if question_named(found["question"]).timed else {}
    if facts:
        yield f"data from {moment(facts.get('first'))} to {moment(facts.get('last'))}"
    for name, border in zip(("train", "test"), facts.get("borders") or [], strict=False):
        yield f"  {name:<10}since {moment(border)}"
    for source in found["sources"]:
        yield (
            f"source {printable(source['name'], 60)}, {counted(source['bytes'], 'byte')}, "
            f"sha256 {printable(source['sha256'], 64)}"
        )
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    yield f"made with {printable(versions, 300)}; seed {found['seed']}"
    yield f"settings {printable(json.dumps(found['settings'], sort_keys=True), _SETTINGS)}"
    yield "history of its cluster"
    for event in found["history"]:
        became = "put, champion" if event["event"] == "put" and event["champion"] else ""
        yield (
            f"  {moment(event['time'])}  {event['digest']}  {became or event['event']}  by "
            f"{printable(event['by'], 40)}  {printable(event['why'], 200)}".rstrip()
        )


def comparison_text(found: dict[str, Any]) -> str:
    """A comparison (`jobsight.learning.comparison`), as text."""
    lines = [f"judged on the same {_counts(found, found['words'])}"]
    lines += [
        f"  not counted: {count} {kind.replace('_', ' ')}"
        for kind, count in found["left_out"].items()
    ]
    keys = list(next(iter(found["models"].values())))
    rows = [
        [printable(name, 80), *(number(scores[key]) for key in keys)]
        for name, scores in found["models"].items()
    ]
    shown = table(["model", *(HEADINGS[key] for key in keys)], rows, _SPARE)
    return "\n".join([*lines, "", shown, "", fold(found["verdict"])])


def _counts(found: dict[str, Any], words: Sequence[str]) -> str:
    rate = "" if found["base_rate"] is None else f", {float(found['base_rate']):.1%} {words[2]}"
    return (
        f"{counted(int(found['examples']), words[0], words[1])} in "
        f"{counted(int(found['batches']), 'batch', 'batches')}{rate}"
    )


def side_by_side(folders: Sequence[Path]) -> dict[str, Any]:
    """The reports of model directories side by side, and why they may not be comparable.

    Raises:
        ModelError: one is damaged.
    """
    reports = []
    for folder in folders:
        manifest = read_manifest(folder)
        report = read_report(folder, manifest)
        with whole(folder):
            borders = manifest.facts.get("borders") or [None] * 3
            scores = report["models"][report["chosen"]]
            reports.append(
                {
                    "model": f"{report['chosen']}@{manifest.digest}",
                    "examples": int(report["examples"]),
                    "batches": int(report["batches"]),
                    "test_since": borders[1],
                    "test_until": manifest.facts.get("last"),
                    "sources": sorted(source.sha256 for source in manifest.sources),
                    "scores": {key: scores[key] for key in report["metrics"]},
                    "best_baseline": best_baseline(report),
                }
            )
    keys = ("sources", "test_since", "test_until")
    differ = [
        name.replace("_", " ") for name in keys if len({str(one[name]) for one in reports}) > 1
    ]
    warnings = ["no logs were given: these are the numbers of each one's own test part"]
    if differ:
        warnings.append(
            f"the test parts differ ({', '.join(differ)}), so these numbers cannot be compared; "
            "name logs from after both trainings"
        )
    return {"models": reports, "warnings": warnings}


def side_by_side_text(found: dict[str, Any]) -> str:
    """What `side_by_side` found, as text."""
    keys = list(found["models"][0]["scores"])
    rows = [
        [
            printable(one["model"], 40),
            str(one["batches"]),
            *(number(one["scores"].get(key)) for key in keys),
            _baseline_text(one["best_baseline"]),
        ]
        for one in found["models"]
    ]
    lines = [
        table(
            ["model", "batches", *(HEADINGS[key] for key in keys), "best baseline"], rows, _SPARE
        ),
        "",
    ]
    lines += [
        fold(
            f"{printable(one['model'], 40)} was tested from {moment(one['test_since'])} to "
            f"{moment(one['test_until'])}"
        )
        for one in found["models"]
    ]
    return "\n".join(lines)


def later_moments(report: dict[str, Any]) -> Iterator[str]:
    """Lines on the models of later moments, where the question is asked then too: briefly."""
    for name, one in report.get("by_moment", {}).items():
        yield ""
        yield f"at the moment {printable(name, 40)}: {_counts(one, one['words'])}"
        yield scores_table(one, [one["loss"]])


def say_overview(overview: Overview) -> None:
    """Print the main points of what was read, and an empty line."""
    say("\n".join(map(fold, overview.points)) + "\n")


def scores_table(report: dict[str, Any], only: Sequence[str] | None = None) -> str:
    """The models of a report as a table of text, the chosen one marked.

    Shown are the headline metric with its interval, and the metrics in `only`, None: all. Next to
    each calibration error (ECE) is what well-calibrated probabilities show by chance: they
    stay below it in 95 of 100 evaluations.
    """
    headline = report["headline"]
    keys = [name for name in report["metrics"] if name not in (headline, "f1_failure")]
    keys = [name for name in keys if only is None or name in only]
    columns = [(key, HEADINGS[key]) for key in keys]
    if "ece" in keys and any("ece_by_chance" in scores for scores in report["models"].values()):
        columns.insert(keys.index("ece") + 1, ("ece_by_chance", "by chance"))
    rows = []
    for name, scores in report["models"].items():
        bounds = scores[f"{headline}_ci"]
        rows.append(
            [
                f"{name} *" if name == report["chosen"] else name,
                number(scores[headline]),
                interval(*(bounds or (None, None))),
                *(number(scores.get(key)) for key, _ in columns),
            ]
        )
    shown = ["model", HEADINGS[headline], "95 %", *(heading for _, heading in columns)]
    return table(shown, rows, _SPARE)
