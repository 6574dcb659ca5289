"""``jobsight evaluate hold``: judge a trained model on logs, with its baselines beside it."""

from __future__ import annotations

from typing import Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    ModelOption,
    NetworkOption,
    TimezoneOption,
)
from jobsight.cli.modelpage import scores_table
from jobsight.cli.output import print_json, say
from jobsight.cli.reading import open_case
from jobsight.cli.tables import table

__all__ = ["app"]

app = typer.Typer(help="Judge a trained model on logs.", no_args_is_help=True)


@app.callback()
def _evaluate() -> None:
    pass


@app.command()
def hold(
    logs: LogArguments,
    model: ModelOption,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """How well does the model tell which released jobs succeed?"""
    from jobsight.questions.hold.training.dataset import Dataset
    from jobsight.questions.hold.training.evaluation import evaluate, unseen

    case = open_case(logs, model, timezone=timezone, config=config, network=network)
    data = Dataset.for_judging(case.history, case.model)
    rows, left_out = unseen(case.model, data)
    report = evaluate(case.model, data, rows, left_out).to_json()
    if as_json:
        print_json(report)
    else:
        _print(report)


def _print(report: dict[str, Any]) -> None:
    say(
        f"{report['examples']} releases in {report['batches']} batches; "
        f"{report['base_rate']:.1%} succeeded"
    )
    for kind, count in {**report["left_out"], **report["censored"]}.items():
        say(f"  not counted: {count} {kind.replace('_', ' ')}")
    say("")
    say(scores_table(report))
    say("")
    say("cost per decision, in wasted runs:")
    say(
        table(
            ["", "cost", "95 %", "released", "wasted", "lost"],
            [
                [
                    name,
                    _number(cost["cost"]),
                    "" if cost["low"] is None else f"{cost['low']:.2f}–{cost['high']:.2f}",
                    *(_number(cost[key]) for key in ("released", "wasted", "lost")),
                ]
                for name, cost in report["costs"].items()
            ],
        )
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
