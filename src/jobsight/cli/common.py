"""What verbs share: options, settings, and the check of what they write."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.clock import zone_named
from jobsight.errors import OutputError, UsageError
from jobsight.format import show_in
from jobsight.modes import set_group_access
from jobsight.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobsight.files import Kind
    from jobsight.ids import JobName
    from jobsight.learning.question import Question
    from jobsight.settings import Settings
    from jobsight.settings.section import Section
    from jobsight.store import Store

__all__ = [
    "AnswerModelOption",
    "AtOption",
    "ClusterOption",
    "ConfigOption",
    "JsonOption",
    "LogArguments",
    "LogOption",
    "ModelOption",
    "NetworkOption",
    "QuestionArgument",
    "SaveOption",
    "SinceOption",
    "StateOption",
    "StoreOption",
    "TimezoneOption",
    "UntilOption",
    "UserOption",
    "caller",
    "check_output",
    "has_store",
    "load_settings",
    "opened_store",
]

MODEL_HELP = (
    "Model: a directory that `train` wrote, a digest of `models list`, champion, "
    "or champion:CLUSTER."
)
QuestionArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help=f"One of {', '.join(QUESTIONS)}.",
        autocompletion=lambda: list(QUESTIONS),
        show_default=False,
    ),
]
LogArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG...",
        help="Event logs: files (also gz, bz2, xz, zst), folders, tar and zip archives, globs, "
        "or - for standard input; a store (sqlite:///PATH, redis://HOST, or store: for the one "
        "that is set); a folder that `store export` wrote.",
        show_default=False,
    ),
]
TimezoneOption = Annotated[
    str | None,
    typer.Option(help="Your time zone, and of logs without one: Europe/Paris (default: local)."),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings file (YAML), read after the usual ones.")
]
NetworkOption = Annotated[
    str | None,
    typer.Option(
        help="Network of the lstm: lstm, lstm-flat, or your own as module:Class "
        "(the current folder is searched too)."
    ),
]
ModelOption = Annotated[str, typer.Option("--model", help=MODEL_HELP)]
AnswerModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Directory, digest of `models list`, or none to answer without training (default: "
        "the champion of the job's cluster or access point, else of default, else none).",
    ),
]
AtOption = Annotated[
    str | None, typer.Option(help="As of when (default: now of a store, the end of a file).")
]
LogOption = Annotated[
    list[str] | None,
    typer.Option(help="Event log: file, folder, glob or - for standard input; repeatable."),
]
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="Keep the answers in the store, in the documents of the jobs."),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store: a path, sqlite:///PATH, redis://HOST, or store: for the one that is set "
        "(default: JOBSIGHT_STORE, settings).",
        show_default=False,
    ),
]
ClusterOption = Annotated[
    str | None, typer.Option(help="Of this Slurm cluster or HTCondor access point.")
]
UserOption = Annotated[str | None, typer.Option("--user", "-u", help="Submitted by this user.")]
StateOption = Annotated[
    list[str] | None,
    typer.Option(
        help="pending, held, running, failed …, a word of Slurm's, active or ended; repeatable."
    ),
]
SinceOption = Annotated[
    str | None, typer.Option(help="Something happened since: a time, 2h, '3 days ago', yesterday.")
]
UntilOption = Annotated[
    str | None, typer.Option(help="Nothing happened later; written as --since.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]


def load_settings(
    config: Path | None, overrides: dict[str, Any], *questions: Question[Any]
) -> Settings:
    """The settings of all places, with those of flags (None: not given) on top.

    From here on, moments are shown in their time zone, and written as their group may read.
    """
    from jobsight.settings import Settings

    sections: dict[str, type[Section] | None] = dict.fromkeys(QUESTIONS)
    sections |= {one.name: one.settings for one in questions}
    if overrides.get("store") == "store:":
        overrides = {**overrides, "store": None}
    settings = Settings.load(_given(overrides), config=config, questions=sections)
    set_group_access(settings.group_access)
    show_in(zone_named(settings.timezone))
    return settings


def _given(tree: dict[str, Any]) -> dict[str, Any]:
    pruned = {key: _given(item) if isinstance(item, dict) else item for key, item in tree.items()}
    return {key: item for key, item in pruned.items() if item is not None and item != {}}


def check_output(output: Path | None, kind: Kind, *, model: Path | None = None) -> None:
    """Refuse an output that would harm what is there, before any work is done.

    Nothing may be written into the model directory `model`, which is read.

    Raises:
        OutputError: it is in the model, or replaces what it may not (see `require_replaceable`).
    """
    if output is None:
        return
    if model is not None and output.resolve().is_relative_to(model.resolve()):
        raise OutputError(f"{output} is in the model directory; name another place to write")
    from jobsight.files import require_replaceable

    require_replaceable(output, kind)


def has_store(settings: Settings) -> bool:
    """Whether a store is named by the settings, or is where it usually is."""
    return "store" in settings.model_fields_set or Path(settings.store.url).expanduser().exists()


def opened_store(settings: Settings, names: Sequence[JobName] | None = None) -> Store:
    """The store of the settings; where there is none, what this machine's tools say.

    They are asked about all jobs, or, in less time, about those of `names` and their scripts.

    Raises:
        JobsightError: as by `own_history` and `open_store`.
    """
    from jobsight.cli.output import note, stages
    from jobsight.store import open_store

    if has_store(settings):
        return open_store(settings=settings.store)
    from jobsight.answering.machine import has_tools, own_history, own_jobs

    if not has_tools(settings):
        return open_store(settings=settings.store)
    with stages() as step:
        if names is None:
            return open_store(own_history(settings, step, note), settings=settings.store)
        return open_store(own_jobs(settings, names, note), settings=settings.store)


def caller() -> str:
    """The user who asks, as schedulers name owners.

    Raises:
        UsageError: this machine has no name for the user.
    """
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise UsageError("this user has no name on this machine; name the jobs") from None
