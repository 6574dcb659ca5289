"""``jobsight train hold``: learn from logs, choose a model, put it into the registry."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    NetworkOption,
    TimezoneOption,
    check_output,
    load_settings,
)
from jobsight.cli.output import note, print_json, say, stages
from jobsight.cli.reading import read_history
from jobsight.files import Kind, new_folder
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.history.timelines import History
    from jobsight.learning.manifest import Source
    from jobsight.learning.registry import Entry
    from jobsight.questions.hold.training.train import Trained
    from jobsight.settings import HoldSettings, Settings

__all__ = ["app"]

app = typer.Typer(help="Learn from history and write a model.", no_args_is_help=True)


@app.callback()
def _train() -> None:
    pass


@app.command()
def hold(
    logs: LogArguments,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the model into this folder too.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="all, or one model; the baselines are always trained beside it.")
    ] = "all",
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Whose model it is, in the registry (default: the access point that the history "
            "is of, else default)."
        ),
    ] = None,
    promote: Annotated[
        bool,
        typer.Option("--promote", help="Make it champion if it is surely better on later data."),
    ] = False,
    registry: Annotated[
        bool, typer.Option("--registry/--no-registry", help="Put the model into the registry.")
    ] = True,
    seed: Annotated[int | None, typer.Option(help="Of everything random (default: 0).")] = None,
    network: NetworkOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train on released jobs: which of them succeeded?"""
    from jobsight.cli.champions import cluster_of
    from jobsight.questions.hold.training.train import model_names

    check_output(output, Kind.MODEL)
    settings = load_settings(
        config,
        {"timezone": timezone, "hold": {"seed": seed, "lstm": {"network": network}}},
    )
    names = model_names(model)
    registered = _registered(settings.hold, output, registry, promote)
    history, _, sources = read_history(logs, settings)
    place = _Place(settings, cluster or cluster_of(history)) if registered else None
    if place is not None:
        place.require_writable()
    with _folder(output) as folder:
        trained = _trained(history, settings.hold, names, model != "all", sources)
        trained.model.save(folder, seed=settings.hold.seed, facts=trained.facts())
        # Written to a folder too, it is put from there: it stays even if it cannot be put.
        entry = None if place is None or output is not None else place.put(folder, sources)
    if place is not None and output is not None:
        entry = place.put(output, sources)
    for name, reason in trained.skipped.items():
        note(f"{name} was not trained: {reason}")
    if place is not None and entry is not None and promote and not entry.champion:
        entry = place.promote(entry, history)
    if as_json:
        print_json(_as_json(trained, output, entry))
    else:
        _print(trained, output, entry)


def _registered(settings: HoldSettings, output: Path | None, wanted: bool, promote: bool) -> bool:
    """Whether the model goes into the registry.

    Raises:
        UsageError: it would go nowhere.
    """
    from jobsight.errors import ModelError, UsageError
    from jobsight.questions.hold.answering.answer import require_answerable

    if promote and not wanted:
        raise UsageError("--promote makes a model of the registry champion; not with --no-registry")
    if not wanted:
        if output is None:
            raise UsageError("with --no-registry, name the folder of the model with -o")
        return False
    try:
        require_answerable(settings)
    except ModelError as error:
        if output is None or promote:
            raise UsageError(f"{error}; only written to a folder: name it with -o") from None
        note(f"not put into the registry: {error}")
        return False
    return True


@contextlib.contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """Where the model is written: the folder named, or one for as long as it takes."""
    import tempfile

    if output is not None:
        with new_folder(output, Kind.MODEL) as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="jobsight-") as name:
        yield Path(name)


def _trained(
    history: History,
    settings: HoldSettings,
    names: tuple[str, ...],
    required: bool,
    sources: list[Source],
) -> Trained:
    from jobsight.questions.hold.training.dataset import Dataset
    from jobsight.questions.hold.training.train import train

    with stages() as progress:
        return train(
            Dataset.for_training(history, settings),
            names=names,
            required=required,
            sources=sources,
            progress=progress,
        )


@dataclass(frozen=True)
class _Place:
    """Where in the registry the model goes."""

    settings: Settings
    cluster: str

    def require_writable(self) -> None:
        from jobsight.cli.modelnames import open_registry

        open_registry(self.settings).require_writable("hold", self.cluster)

    def put(self, folder: Path, sources: list[Source]) -> Entry:
        from jobsight.cli.modelnames import open_registry

        registry = open_registry(self.settings)
        # By the sources' own names: the address of a store, as it was typed, may hold a password.
        names = ", ".join(source.name for source in sources)
        why = f"trained on {printable(names, 200)}"
        digest = registry.put(folder, "hold", self.cluster, why=why)
        return registry.find(digest, question="hold", cluster=self.cluster)

    def promote(self, entry: Entry, history: History) -> Entry:
        """The entry, champion if it is surely better than the champion on what is later."""
        from jobsight.cli.modelnames import open_registry
        from jobsight.cli.promoting import challenge

        registry = open_registry(self.settings)
        done = challenge(registry, entry, history, self.settings)
        note(("promoted: " if done.promoted else "not promoted: ") + printable(done.reason))
        return registry.find(entry.digest, question="hold", cluster=self.cluster)


def _as_json(trained: Trained, output: Path | None, entry: Entry | None) -> dict[str, Any]:
    place = None
    if entry is not None:
        place = {
            "digest": entry.digest,
            "question": entry.question,
            "cluster": entry.cluster,
            "champion": entry.champion,
            "folder": str(entry.folder),
        }
    return {
        "model": None if output is None else str(output),
        "registry": place,
        **trained.facts(),
        "test": trained.model.report,
    }


def _print(trained: Trained, output: Path | None, entry: Entry | None) -> None:
    from jobsight.cli.modelpage import scores_table

    facts = trained.facts()
    for name, part in facts["parts"].items():
        say(
            f"{name:<10}{part['examples']:>7} releases in {part['batches']:>5} batches, "
            f"{part['successes']} succeeded"
        )
    say("")
    say(scores_table(trained.model.report))
    say("")
    say(facts["choice"]["reason"])
    if entry is not None:
        say(_placed(entry))
    if output is not None:
        say(f"wrote {output}")


def _placed(entry: Entry) -> str:
    where = f"{entry.question} for {printable(entry.cluster, 60)}"
    if entry.champion:
        return f"model {entry.digest} is the champion of {where}: it answers from now on"
    return (
        f"model {entry.digest} is in the registry, {where}; another is champion: `jobsight models "
        f"promote {entry.digest} LOG...` compares them"
    )
