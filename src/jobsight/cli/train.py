"""``jobsight train QUESTION``: learn from history, choose a model, put it into the registry."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from jobsight.answering.models import champion_of
from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    NetworkOption,
    QuestionArgument,
    TimezoneOption,
    check_output,
    load_settings,
)
from jobsight.cli.models import later_moments, say_overview, scores_table
from jobsight.cli.output import note, print_json, say, stages
from jobsight.cli.promote import challenge
from jobsight.cli.reading import read_for
from jobsight.cli.terminal import fold
from jobsight.errors import JobsightError, ModelError, TrainingError, UsageError
from jobsight.files import Kind, new_folder
from jobsight.learning.dataset import Dataset
from jobsight.learning.question import Question
from jobsight.learning.reading import cluster_of
from jobsight.learning.registry import DEFAULT, Entry, Registry
from jobsight.learning.train import Trained, model_names
from jobsight.learning.train import train as train_models
from jobsight.questions import answerable_named, question_named
from jobsight.reports.scores import verdict
from jobsight.settings import QuestionSettings, Settings
from jobsight.text import printable

__all__ = ["train"]


def train(
    question: QuestionArgument,
    logs: LogArguments,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the model into this folder too.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="all, or one model; the baselines are always trained as well.")
    ] = "all",
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Whose model it is, in the registry (default: the cluster or access point of the "
            "history, else default)."
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
    """Learn from history, choose the best model, test it on what is later."""
    asked = question_named(question)
    check_output(output, Kind.MODEL)
    own = {"seed": seed, "lstm": {"network": network}}
    settings = load_settings(config, {"timezone": timezone, question: own}, asked)
    chosen = settings.of(question, asked.settings)
    names = model_names(asked, model)
    registered = _registered(asked, chosen, output, registry, promote)
    source, _, sources = read_for(asked, logs, settings)
    cluster = cluster or cluster_of(source) or DEFAULT
    if registered:
        Registry(settings.registry).require_writable(question, cluster)
    entry = None
    with tempfile.TemporaryDirectory(prefix="jobsight-") as scratch:
        folder = output or Path(scratch) / "model"
        with new_folder(folder, Kind.MODEL) as made:
            with _or_what_answers(settings, question, cluster), stages() as progress:
                data = Dataset.for_training(asked, source, chosen)
                trained = train_models(
                    data, names=names, required=model, sources=sources, progress=progress
                )
            trained.model.save(made, seed=chosen.seed, facts=trained.facts())
        if registered:
            # By the sources' own names: the address of a store, as typed, may hold a password.
            why = f"trained on {printable(', '.join(one.name for one in sources), 200)}"
            digest = Registry(settings.registry).put(folder, question, cluster, why=why)
            entry = Registry(settings.registry).find(digest, question=question, cluster=cluster)
    for name, reason in trained.main.skipped.items():
        note(f"{name} was not trained: {reason}")
    if entry is not None and promote and not entry.champion:
        models = Registry(settings.registry)
        done = challenge(models, entry, source, settings)
        note(("promoted: " if done.promoted else "not promoted: ") + printable(done.reason))
        entry = models.find(entry.digest, question=entry.question, cluster=entry.cluster)
    overview = answerable_named(question).overview(source, chosen)
    if as_json:
        print_json({"overview": overview._asdict(), **_as_json(trained, output, entry)})
    else:
        say_overview(overview)
        _print(trained, output, entry)


def _registered(
    question: Question[Any],
    settings: QuestionSettings,
    output: Path | None,
    wanted: bool,
    promote: bool,
) -> bool:
    """Whether the model goes into the registry; `UsageError`: it would go nowhere."""
    if promote and not wanted:
        raise UsageError("--promote makes a model of the registry champion; not with --no-registry")
    if not wanted:
        if output is None:
            raise UsageError("with --no-registry, name the folder of the model with -o")
        return False
    try:
        answerable_named(question.name).require_answerable(settings)
    except ModelError as error:
        if output is None or promote:
            raise UsageError(f"{error}; only written to a folder: name it with -o") from None
        note(f"not put into the registry: {error}")
        return False
    return True


@contextlib.contextmanager
def _or_what_answers(settings: Settings, question: str, cluster: str) -> Iterator[None]:
    """Let the error of a training say what answers for its cluster without the model."""
    try:
        yield
    except TrainingError as error:
        instead = answerable_named(question).without
        with contextlib.suppress(JobsightError):  # a champion that cannot be used
            if champion := champion_of(settings, question, cluster):
                instead = f"the champion {champion.digest}"
        raise TrainingError(
            f"{error}. Until then `jobsight {question}` answers by {instead}"
        ) from None


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
    _, several, true = trained.model.question.words
    for name, one in trained.targets.items():
        if len(trained.targets) > 1:
            say(f"{name}:")
        facts = one.facts()
        for part, counts in facts["parts"].items():
            rate = "" if counts["base_rate"] is None else f", {counts['base_rate']:.1%} {true}"
            say(
                f"{part:<10}{counts['examples']:>7} {several} in {counts['batches']:>5} batches"
                f"{rate}"
            )
        say("")
        say(fold(verdict(one.model.report)))
        say("")
        say(scores_table(dict(one.model.report)))
        for line in later_moments(dict(one.model.report)):
            say(line)
        say("")
        say(fold(facts["choice"]["reason"]))
        for moment, at in one.evaluation.by_moment.items():
            if at.rejected is not None:
                say(fold(f"At the moment {moment} {at.rejected['why']}."))
    for text in trained.data.decisions.notes:
        say(fold(text))
    if entry is not None:
        where = f"{entry.question} for {printable(entry.cluster, 60)}"
        if entry.champion:
            text = f"model {entry.digest} is the champion of {where}: it answers from now on"
        else:
            text = (
                f"model {entry.digest} is in the registry, {where}; another is champion: `jobsight "
                f"models promote {entry.digest} LOG...` compares them"
            )
        say(fold(text))
    if output is not None:
        say(f"wrote {output}")
