"""``jobsight train hold``: learn from logs, choose a model, write a model directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    NetworkOption,
    TimezoneOption,
    check_output,
    load_settings,
    note,
    print_json,
    read_history,
    say,
    stages,
)

__all__ = ["register"]

_verb = typer.Typer(help="Learn from history and write a model.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.add_typer(_verb, name="train")


@_verb.callback()
def _train() -> None:
    pass


@_verb.command()
def hold(
    logs: LogArguments,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the new model.")],
    model: Annotated[
        str, typer.Option(help="all, or one model; the baselines are always trained beside it.")
    ] = "all",
    seed: Annotated[int | None, typer.Option(help="Of everything random (default: 0).")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="jobsight, or seed: the project's first study, to compare.")
    ] = None,
    network: NetworkOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train on released jobs: which of them succeeded?"""
    from jobsight.files import new_folder
    from jobsight.questions.hold.training.dataset import Dataset
    from jobsight.questions.hold.training.train import model_names, train

    check_output(output, [config], folder=True)
    settings = load_settings(
        config,
        {
            "timezone": timezone,
            "hold": {"seed": seed, "recipe": recipe, "lstm": {"network": network}},
        },
    )
    names = model_names(model, settings.hold.recipe)
    history, _, sources = read_history(logs, settings, output=output, folder=True)
    with new_folder(output) as folder, stages() as progress:
        trained = train(
            Dataset.for_training(history, settings.hold),
            names=names,
            required=model != "all",
            sources=sources,
            progress=progress,
        )
        trained.model.save(folder, seed=settings.hold.seed, facts=trained.facts())
    for name, reason in trained.skipped.items():
        note(f"{name} was not trained: {reason}")
    if as_json:
        print_json({"model": str(output), **trained.facts(), "test": trained.model.report})
    else:
        _print(trained.model.report, trained.facts(), output)


def _print(report: dict[str, Any], facts: dict[str, Any], output: Path) -> None:
    from jobsight.cli.evaluate import scores_table

    for name, part in facts["parts"].items():
        say(
            f"{name:<10}{part['examples']:>7} releases in {part['batches']:>5} batches, "
            f"{part['successes']} succeeded"
        )
    say("")
    say(scores_table(report))
    say("")
    say(facts["choice"]["reason"])
    say(f"wrote {output}")
