"""``jobsight sweep plan|submit|status|best|collect|cancel|cleanup``."""

from __future__ import annotations

import itertools
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import ConfigOption, JsonOption, load_settings
from jobsight.cli.output import answer, note, progress_bar, say, stages
from jobsight.cli.reading import read_for
from jobsight.cli.terminal import blocks, table
from jobsight.errors import SweepError, UsageError
from jobsight.format import UNKNOWN, number, short, size, span
from jobsight.models import is_baseline
from jobsight.reports.scores import HEADINGS
from jobsight.text import abridged, counted, printable
from jobsight.tuning.config import SweepConfig
from jobsight.tuning.finish import bring_in, find_best, read_best, register_best
from jobsight.tuning.folder import Sweep
from jobsight.tuning.here import Here
from jobsight.tuning.plan import folder_of, inputs_of, plan_sweep
from jobsight.tuning.progress import Progress, leftovers, progress_of
from jobsight.tuning.scheduler import Scheduler, Status
from jobsight.tuning.schedulers import scheduler_of

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["best", "cancel", "cleanup", "collect", "plan", "status", "submit"]

_SHOWN, _POINTS, _BAR, _CAUSE = 10, 5, 24, 400
_ENDING_SECONDS = 60.0
"""For runs to save what they have, once asked to end."""
_REDRAWN = "\x1b[H\x1b[J"
_WHERE = {
    "here": "here, as processes of this machine",
    "dagman": "HTCondor, by DAGMan",
    "slurm": "Slurm",
}
_SCORES = ("log_loss", "roc_auc", "f1", "macro_f1")

_ConfigFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The sweep's config (YAML).", show_default=False)
]
_FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The sweep's config (YAML), or its folder.", show_default=False
    ),
]


def plan(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Write everything that the sweep needs into its folder; start nothing."""
    sweep, changed, files = _planned(file, load_settings(config, {}))
    facts = {
        "folder": str(sweep.folder),
        "changed": changed,
        "sweep": sweep.digest,
        "where": sweep.config.where,
        "shared": sweep.config.sees_folder,
        "runs": sweep.config.runs,
        "points": {str(run): point for run, point in _points(sweep)},
        "files": [str(path) for path in files],
    }
    wrote = "wrote" if changed else "nothing has changed in"
    last = f"{wrote} {sweep.folder}; start it with: {_command('submit', file)}"
    answer(facts, lambda: "\n".join([*_plan_lines(sweep, files), last]), as_json=as_json)


def submit(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Start the sweep, or continue it where it stopped; here: run it, and wait for it."""
    settings = load_settings(config, {})
    sweep, _, _ = _planned(file, settings)
    runs = bring_in(sweep.folder)
    scheduler = scheduler_of(sweep.config.where, settings)
    if progress_of(sweep, runs, scheduler.status(sweep)).done:
        note(f"all is done; see: {_command('best', file)}")
        return
    if not isinstance(scheduler, Here):
        job = scheduler.submit(sweep, runs.unfinished())
        facts = {"folder": str(sweep.folder), "where": sweep.config.where, "id": job}
        text = f"submitted to {sweep.config.where} as {job}; see: {_command('status', file)}"
        answer(facts, text, as_json=as_json)
        return
    if unfinished := runs.unfinished():
        with progress_bar("training") as report:

            def watch() -> None:
                now = progress_of(sweep, runs, Status(active=True))
                ended = now.ended * sweep.config.epochs
                going = sum(one.epochs for one in now.runs if one.state == "running")
                report(min(ended + going, now.epochs_most), now.epochs_most)

            scheduler.submit(sweep, unfinished, watch)
    progress = progress_of(sweep, bring_in(sweep.folder), scheduler.status(sweep))
    if progress.ended == sweep.config.runs:
        with stages() as step:
            find_best(sweep, again=_was_extended(sweep), progress=step)
        register_best(sweep)
        progress = progress_of(sweep, bring_in(sweep.folder), scheduler.status(sweep))
    _show(progress, as_json=as_json)
    if not progress.done:
        first = next(iter(progress.failures), None)
        why = f"{first.what} {first.state}: {first.cause}" if first else "it was stopped"
        raise SweepError(f"the sweep is not done: {why}; continue with: {_command('submit', file)}")


def _was_extended(sweep: Sweep) -> bool:
    """Whether more runs were asked for after the test; then it is done again, and recorded."""
    try:
        return bool(sum(read_best(sweep)["runs"].values()) < sweep.config.runs)
    except SweepError:
        return False


def _planned(file: Path, settings: Settings) -> tuple[Sweep, bool, list[Path]]:
    """Plan the sweep of a config file, and write the files of its scheduler.

    Returns:
        the sweep, whether its folder was written, and the scheduler's files.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder; name the sweep's config file, to plan or submit it")
    given = SweepConfig.read(file)
    base = file.absolute().parent
    data = [settings.store.url if name == "store:" else name for name in given.data]

    def read(inputs: list[str]) -> tuple[Any, Sequence[Any]]:
        source, _, sources = read_for(given.asked, inputs, settings)
        return source, sources

    with progress_bar("planning") as progress:
        sweep, changed = plan_sweep(
            file,
            given,
            inputs=inputs_of(data, base),
            read=read,
            command=(sys.executable, "-m", "jobsight"),
            registry=settings.registry.absolute(),
            settings={"timezone": settings.timezone, "access_point": settings.access_point},
            is_active=lambda old: scheduler_of(old.config.where, settings).status(old).active,
            progress=progress,
        )
    scheduler = scheduler_of(sweep.config.where, settings)
    if scheduler.status(sweep).active:
        return sweep, changed, []
    return sweep, changed, scheduler.write(sweep, bring_in(sweep.folder).unfinished())


def _points(sweep: Sweep) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The points that are known."""
    for trial in bring_in(sweep.folder).trials():
        if trial.params:
            yield trial.number + 1, trial.params


def _plan_lines(sweep: Sweep, files: list[Path]) -> Iterator[str]:
    """The plan in short: what is searched, on what, what will be asked for, where."""
    config, asked = sweep.config, sweep.config.resources
    most = "highest" if config.metric.goal == "maximize" else "lowest"
    yield (
        f"{counted(config.runs, 'run')} of at most {counted(config.epochs, 'epoch')}, "
        f"{config.method}, seed {config.seed}; best by the {most} {config.metric.name}"
    )
    inputs = sweep.planned.inputs
    amount = sum(length for _, length, _ in inputs)
    yield f"  data      {counted(len(inputs), 'input')}" + (f" ({size(amount)})" if amount else "")
    yield (
        f"  each run  {counted(asked.cpus, 'core')}, {asked.memory:,} MiB of memory, "
        f"{asked.disk:,} MiB of disk"
        + (f", {counted(asked.gpus, 'GPU')}" if asked.gpus else "")
        + (f", {span(asked.time)} at a time" if asked.time else "")
    )
    where = _WHERE[config.where]
    if config.where == "dagman":
        where += "; all see one file system" if config.sees_folder else "; files are transferred"
    if sweep.planned.image:
        where += f"; in {printable(sweep.planned.image, 80)}"
    yield f"  where     {where}"
    if config.tracking.wandb != "off":
        yield f"  tracking  Weights & Biases {config.tracking.wandb}"
    if files:
        names = ", ".join(path.name for path in files)
        yield f"  files     for the scheduler: {printable(names, 200)}"
    if points := list(itertools.islice(_points(sweep), _POINTS)):
        keys = list(points[0][1])
        rows = [
            [str(run), *(printable(short(point[key]), 24) for key in keys)] for run, point in points
        ]
        headings = [printable(key, 24) for key in keys]
        yield table(["run", *headings], rows, headings[::-1])
        if config.runs > len(points):
            yield f"… and {config.runs - len(points)} more"


def _opened(file: Path, config: Path | None) -> tuple[Sweep, Scheduler]:
    sweep = Sweep.open(folder_of(file))
    # Slurm's tools are as the settings have them.
    settings = load_settings(config, {}) if sweep.config.where == "slurm" else None
    return sweep, scheduler_of(sweep.config.where, settings)


def _progress(sweep: Sweep, scheduler: Scheduler) -> Progress:
    if sweep.planned.folder != str(sweep.folder.resolve()):
        note(
            f"it was planned as {printable(sweep.planned.folder)} and moved; no scheduler is asked"
        )
        return progress_of(sweep, bring_in(sweep.folder), Status(active=False))
    status = scheduler.status(sweep)  # before the records: what has ended since is in these
    return progress_of(sweep, bring_in(sweep.folder), status)


def status(
    file: _FileArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again until nothing works on it.")
    ] = False,
    each: Annotated[bool, typer.Option("--runs", help="Show every run.")] = False,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 5.0,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """How far it is: runs, what failed and why, the best run so far."""
    sweep, scheduler = _opened(file, config)
    while True:
        progress = _progress(sweep, scheduler)
        if watch and sys.stdout.isatty():
            say(_REDRAWN, end="")
        _show(progress, as_json=as_json, each=each)
        if not watch or not progress.active:
            return
        time.sleep(interval)


def _show(progress: Progress, *, as_json: bool, each: bool = False) -> None:
    answer(
        progress.to_json(), lambda: "\n".join(_status_lines(progress, each=each)), as_json=as_json
    )


def _status_lines(progress: Progress, *, each: bool) -> Iterator[str]:
    left = len(progress.runs) - progress.ended
    if progress.active:
        head = "running"
    elif progress.done:
        head = "done"
    elif progress.manager is None and not progress.epochs:
        head = "not submitted yet"
    elif left:
        head = f"stopped with {counted(left, 'run')} not ended; submit again to continue"
    else:
        head = "all runs ended; finish it with: jobsight sweep collect"
    manager = f", {printable(progress.manager, 300)}" if progress.manager else ""
    yield f"{head} ({progress.where}{manager})"
    full, _, empty = blocks()
    filled = _BAR * progress.ended // max(len(progress.runs), 1)
    states = ", ".join(f"{count} {state}" for state, count in sorted(progress.states.items()))
    yield f"  {full * filled}{empty * (_BAR - filled)} {progress.ended}/{len(progress.runs)}"
    yield f"runs: {states}; {progress.epochs:,} of at most {progress.epochs_most:,} epochs"
    if progress.best is not None:
        found = progress.best
        yield (
            f"best {'run' if progress.done else 'so far: run'} {found.run}, {progress.metric} "
            f"{short(found.value)}{f', epoch {found.epoch}' if found.epoch is not None else ''}"
        )
    for failure in progress.failures[:_SHOWN]:
        log = f" (see {printable(failure.log, 120)})" if failure.log else ""
        yield f"  {failure.what} {failure.state}: {abridged(failure.cause, _CAUSE)}{log}"
    if len(progress.failures) > _SHOWN:
        yield f"  and {len(progress.failures) - _SHOWN} more; --json lists all"
    if each:
        rows = [
            [
                *(str(one.run), one.state, str(one.epochs)),
                UNKNOWN if one.value is None else short(one.value),
                *(str(one.attempts), printable(one.where or UNKNOWN, 40)),
                abridged(one.cause or "", _CAUSE),
            ]
            for one in progress.runs
        ]
        headings = ["run", "state", "epochs", progress.metric, "starts", "where", "why"]
        yield table(headings, rows, ["where", "starts"], left=["state", "where", "why"])


def best(file: _FileArgument, as_json: JsonOption = False) -> None:
    """The best run: its parameters, its metrics, how it did in the test, where its model is."""
    sweep = Sweep.open(folder_of(file))
    facts = read_best(sweep)
    answer(facts, lambda: "\n".join(_best_lines(sweep, facts)), as_json=as_json)


def _best_lines(sweep: Sweep, facts: Mapping[str, Any]) -> Iterator[str]:
    """The best run, its test next to what matters, and where its model is."""
    model, most = facts["model"], "highest" if facts["goal"] == "maximize" else "lowest"
    yield (
        f"run {facts['run']} of {sum(facts['runs'].values())}: {printable(facts['metric'], 30)} "
        f"{short(facts['value'])} on the validation block, the {most}"
    )
    point = facts["parameters"].items()
    text = ", ".join(f"{printable(key, 60)} {printable(short(value), 24)}" for key, value in point)
    yield f"  parameters  {text}"
    yield f"  epochs      {facts['epochs']}; the best is epoch {facts['best_epoch']}"
    looks = "once" if model["looks"] == 1 else f"{model['looks']} times"
    yield (
        f"test part: {counted(model['test_examples'], 'example')} in "
        f"{counted(model['test_batches'], 'batch', 'batches')}, looked at {looks}"
    )
    test = model["test"]
    baselines = [name for name in test if is_baseline(name) and test[name].get("log_loss")]
    roles: dict[str, list[str]] = {}
    for name, role in (
        (model["chosen"], "which answers"),
        (sweep.config.trained, "the run's"),
        (min(baselines, key=lambda one: test[one]["log_loss"], default=""), "the best baseline"),
    ):
        if name in test:
            roles.setdefault(name, []).append(role)
    shown = [name for name in _SCORES if test[model["chosen"]].get(name) is not None]
    rows = [
        [
            f"{printable(name, 30)}, {' and '.join(role)}",
            *(number(test[name].get(score)) for score in shown),
        ]
        for name, role in roles.items()
    ]
    headings = [HEADINGS[name] for name in shown]
    yield table(["model", *headings], rows, headings[:0:-1], indent=2)
    entry = facts["registry"]
    yield f"model     {printable(sweep.best / 'model')}"
    if entry is None:
        yield "registry  not yet; put it there with: jobsight sweep collect"
    else:
        role = "champion" if entry["champion"] else "challenger"
        place = f"cluster {printable(entry['cluster'], 60)}, in {printable(entry['path'])}"
        yield f"registry  {entry['digest']}, {role} of {place}"
    yield f"all else  {printable(sweep.best / 'bestmodel.info')}, or --json"


def collect(
    file: _FileArgument,
    without_missing: Annotated[
        bool,
        typer.Option(
            "--without-missing", help="Choose among the runs that ended, if some did not."
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Test other parameters than before; the report says how often."
        ),
    ] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Finish by hand what the sweep does at its end: choose, test, register, report."""
    sweep, scheduler = _opened(file, config)
    progress = _progress(sweep, scheduler)
    if progress.active:
        raise SweepError(
            f"{sweep.folder} is still being worked on; wait for it ({_command('status', file)}) or "
            f"cancel it ({_command('cancel', file)})"
        )
    missing = sweep.config.runs - progress.ended
    if missing and not without_missing:
        raise SweepError(
            f"{counted(missing, 'run')} of {sweep.config.runs} have not ended; submit the sweep "
            "again to continue them, or choose among the others with --without-missing"
        )
    if progress.done:
        note("everything is here already")
    else:
        with stages() as step:
            find_best(sweep, again=again or _was_extended(sweep), progress=step)
        register_best(sweep)
    best(file, as_json=as_json)


def cancel(file: _FileArgument, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Stop it, from any terminal; the results of its runs are kept, and submit continues it."""
    sweep, scheduler = _opened(file, config)
    scheduler.cancel(sweep)
    end = time.monotonic() + _ENDING_SECONDS
    while (active := scheduler.status(sweep).active) and time.monotonic() < end:
        time.sleep(0.5)
    where = sweep.config.where
    text = f"cancelled; the results of its runs are kept. Continue with: {_command('submit', file)}"
    if active:
        text = f"{where} was asked to stop it, and still works on it: {_command('status', file)}"
    facts = {"folder": str(sweep.folder), "where": where, "active": active}
    answer(facts, text, as_json=as_json)


def cleanup(
    file: _FileArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove checkpoints of runs that ended, and the scheduler's files of a sweep that is done."""
    sweep, scheduler = _opened(file, config)
    progress = _progress(sweep, scheduler)
    if progress.active:
        raise SweepError(
            f"{sweep.folder} is being worked on; clean up when it is done, or cancel it "
            f"({_command('cancel', file)})"
        )
    found = leftovers(sweep, progress)
    amount = f"{counted(len(found), 'folder')}, {size(sum(found.values()))}"
    if found and not yes:
        if not sys.stdin.isatty():
            raise UsageError("this asks before it removes anything; add --yes in a script")
        if not typer.confirm(f"remove {amount}?", err=True):
            raise SweepError("nothing was removed")
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
    removed = {"removed": [str(path) for path in found], "bytes": sum(found.values())}
    answer(removed, f"removed {amount}; records and results are kept", as_json=as_json)


def _command(verb: str, file: Path) -> str:
    """What to type next, for a shell."""
    return f"jobsight sweep {verb} {shlex.quote(str(file))}"
