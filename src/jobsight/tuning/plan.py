"""From a config to a sweep's folder: its config, its data, its study, and a place for each run."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from jobsight.errors import OutputError, SweepError, UsageError
from jobsight.files import new_file, write_json
from jobsight.learning.manifest import Source, package_versions
from jobsight.modes import make_folder
from jobsight.text import printable
from jobsight.tuning.config import SweepConfig
from jobsight.tuning.folder import Planned, Sweep, write_source
from jobsight.tuning.record import RunRecord, run_folder
from jobsight.tuning.study import STUDY, Runs, create_study

__all__ = ["folder_of", "inputs_of", "plan_sweep"]

Read = Callable[[list[str]], tuple[Any, Sequence[Source]]]
"""Reads inputs for the question: what it is asked of, and the files that this was read from."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def folder_of(file: Path, config: SweepConfig | None = None) -> Path:
    """The folder of the sweep that a config file, or its folder, names."""
    if file.is_dir():
        return file.resolve()
    config = config or SweepConfig.read(file)
    if config.folder is not None:
        return (file.absolute().parent / config.folder).resolve()
    return file.absolute().with_suffix(".sweep").resolve()


def inputs_of(data: Sequence[str], base: Path) -> list[str]:
    """Inputs that mean the same from any folder: absolute paths, and addresses as they are.

    Raises:
        UsageError: standard input is named, or an address holds a password.
    """
    inputs = []
    for text in data:
        if text == "-":
            raise UsageError("a sweep cannot read standard input; write it to a file and name that")
        if not _ADDRESS.match(text) or (base / text).exists():
            inputs.append(str(base / Path(text).expanduser()))
        elif "@" in text or "password" in text.lower():
            raise UsageError(
                "the address of a store in `data` holds a user or password, which would be "
                "written into the sweep's folder; leave it out and set JOBSIGHT_STORE_PASSWORD, "
                "or store.password_file in the settings"
            )
        else:
            inputs.append(text)
    return inputs


def plan_sweep(
    file: Path,
    config: SweepConfig,
    *,
    inputs: list[str],
    read: Read,
    command: Sequence[str],
    registry: Path,
    settings: dict[str, Any],
    is_active: Callable[[Sweep], bool] = lambda _sweep: False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[Sweep, bool]:
    """Write a sweep's folder, or what changed of it; start nothing.

    Args:
        file: the config file.
        config: what is in it.
        inputs: of `inputs_of`.
        read: is called unless the folder has the same inputs read already.
        command: how `jobsight` starts on this machine.
        registry: that the best model goes into.
        settings: of Jobsight, by which the data are read.
        is_active: whether a scheduler works on what was planned before.
        progress: is called with the runs written of all.

    Returns:
        the sweep, and whether its folder was written, not the same already.

    Raises:
        SweepError: something else is in the folder, the sweep there has begun and is another, or a
            scheduler works on it.
        OutputError: the folder cannot be written.
    """
    folder = folder_of(file, config)
    planned = Planned(
        folder=str(folder),
        registry=str(registry),
        command=list(command),
        image=_image(config.program.image, file.absolute().parent),
        inputs=[_stamped(name) for name in inputs],
        settings=settings,
        versions=package_versions(),
    )
    wanted = Sweep(folder, config, planned)
    before = _before(folder)
    if before is not None:
        if before.config == config and before.planned == planned and _is_whole(wanted):
            return before, False
        if is_active(before):
            raise SweepError(
                f"{folder} is being worked on, and the config has changed; wait for it, or cancel "
                "it (jobsight sweep cancel), then submit again"
            )
        if _has_begun(before):
            _require_comparable(before, wanted)
            planned = msgspec.structs.replace(planned, inputs=before.planned.inputs)
            wanted = Sweep(folder, config, planned)
        else:
            _clear(folder, keep_data=before.planned.inputs == planned.inputs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if planned.image is not None:  # containers see what is there
            make_folder(registry)
        if not (folder / "history" / "read.json").exists():
            source, sources = read(inputs)
            write_source(folder, source, config.asked.reads, sources)
        for place in (wanted.best, wanted.submitted / "logs"):
            place.mkdir(parents=True, exist_ok=True)
        with new_file(folder / "sweep.yaml") as temporary:
            temporary.write_bytes(file.read_bytes())
        create_study(folder, config)
        for number, trial in enumerate(Runs.open(folder).trials()[: config.runs], start=1):
            place = run_folder(folder, number)
            place.mkdir(parents=True, exist_ok=True)
            if trial.params and RunRecord.read(place) is None:
                RunRecord(number, dict(trial.params)).write(place)
            progress(number, config.runs)
        write_json(folder / "sweep.json", msgspec.to_builtins(planned))
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from None
    return wanted, True


def _stamped(name: str) -> tuple[str, int, float]:
    """An input with its size and time of change, by which it is recognized; 0 of an address."""
    try:
        status = Path(name).stat()
    except OSError:
        return name, 0, 0.0
    return name, status.st_size, status.st_mtime


def _image(image: str | None, base: Path) -> str | None:
    """Where an image is: a file or a folder of here or of the other machines, or an address."""
    if image is None:
        return None
    path = base / Path(image).expanduser()
    with contextlib.suppress(OSError, RuntimeError):  # it may be where only nodes may look
        return str(path.resolve(strict=True))
    if ":" in image:  # docker://…, docker-archive:…
        return image
    if not image.startswith(("/", "~")):
        raise SweepError(
            f"program.image: there is no {printable(path, 200)}; name a file or a folder that is "
            "there, a whole path where runs run, or an address such as docker://…"
        )
    return str(path)


def _before(folder: Path) -> Sweep | None:
    """What was planned in the folder before; None: it is new or empty."""
    if (folder / "sweep.json").exists():
        return Sweep.open(folder)
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SweepError(f"cannot look into {folder}: {error.strerror or error}") from None
    ours = {"sweep.yaml", STUDY, "history", "runs", "best", "submitted"}  # planning was cut short
    other = next((name for name in names if name not in ours), None)
    if other is not None:
        raise SweepError(
            f"{folder} holds {printable(other, 60)!r}, but no sweep; name another `folder` in the "
            "config"
        )
    _clear(folder, keep_data=False)
    return None


def _has_begun(sweep: Sweep) -> bool:
    """Whether any run began, so that the search may not change any more."""
    records = (RunRecord.read(path.parent) for path in sweep.folder.glob("runs/*/run.json"))
    return any(record is not None and record.started is not None for record in records)


def _is_whole(sweep: Sweep) -> bool:
    last = run_folder(sweep.folder, sweep.config.runs)
    return last.is_dir() and len(Runs.open(sweep.folder).trials()) >= sweep.config.runs


def _require_comparable(before: Sweep, wanted: Sweep) -> None:
    """Refuse another search in a folder that has runs.

    Raises:
        SweepError: names what differs.
    """
    was, now = before.config.searched, wanted.config.searched
    for key in was:
        if was[key] != now[key]:
            old, new = (printable(json.dumps(value[key]), 80) for value in (was, now))
            raise SweepError(
                f"{before.folder} has runs of another sweep: {key} was {old} and is {new}; put it "
                "back, or name another `folder` in the config"
            )
    names = [[Path(name).name for name, *_ in one.planned.inputs] for one in (before, wanted)]
    if names[0] != names[1]:
        raise SweepError(
            f"{before.folder} has runs on other data: {names[0]}; name another `folder`"
        )
    if wanted.config.runs < before.config.runs:
        raise SweepError(
            f"{before.folder} has {before.config.runs} runs and the config asks for "
            f"{wanted.config.runs}; a sweep can be given more runs, but not fewer"
        )


def _clear(folder: Path, *, keep_data: bool) -> None:
    """Remove what an earlier plan, of which nothing ran, wrote."""
    for name in ("runs", "best", "submitted", *(() if keep_data else ("history",))):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("sweep.json", "sweep.yaml", STUDY, f"{STUDY}.lock"):
        (folder / name).unlink(missing_ok=True)
