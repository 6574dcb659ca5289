"""What the scheduler's tools of this machine say to the caller, for answers without a store.

They are asked for what is new, and what they say is kept in a store of the caller's own, with
positions, so that the next call asks for the rest alone. Slurm's accounting is read from now
backwards: an answer is given after `MachineSettings.patience`, and the rest is read in the
background.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jobsight.errors import JobsightError, OutputError, SourceError, StoreError, UsageError
from jobsight.format import span
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.locks import is_locked, take
from jobsight.modes import make_folder
from jobsight.runtime import cache_folder
from jobsight.settings import Settings
from jobsight.store import Move, open_store
from jobsight.store.sqlitefile import filesystem_of, is_remote
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.history.sources import Source
    from jobsight.ids import JobName
    from jobsight.settings import SlurmSettings
    from jobsight.store import Store

__all__ = ["has_tools", "machine_folder", "own_history", "own_jobs", "slurm_client"]

Step = Callable[[str], None]
"""Shows what is being done, or a note that stays."""

_SLURM, _CONDOR = "squeue", "condor_q"
_LARGEST = 2 << 30
"""Bytes of a store that is begun anew."""
_SHARED_S = 0.5
"""How long the end of another call is waited for where something is known."""
_AT_LEAST_S = 2.0
"""Between two looks for a job that is not known yet."""
_TIMEOUT_S = 20.0
_SLICE_S = 3.0
"""Of reading in the background, between two pauses."""
_MOST_READING_S = 3600.0
_SAVED = "jobs.db"


def has_tools(settings: Settings) -> bool:
    """Whether a scheduler's tools are here and may be asked."""
    return settings.machine.enabled and (
        SlurmClient(settings.slurm).has(_SLURM) or CondorClient(settings.condor).has(_CONDOR)
    )


def machine_folder(settings: Settings) -> Path:
    """The private folder of what the tools said, which exists.

    Raises:
        OutputError: there is no place for it.
    """
    named = settings.machine.folder
    folders = [named.expanduser()] if named is not None else list(_usual())
    for folder in folders:
        with suppress(OSError):
            make_folder(folder)
            status = folder.lstat()
            if status.st_uid == os.geteuid() and not status.st_mode & 0o022:
                return folder
    raise OutputError(
        f"{folders[0]} cannot be made or is not yours alone; name a private folder of this "
        "machine in the setting machine.folder"
    )


def _usual() -> Iterator[Path]:
    cache = cache_folder()
    kind = None if cache is None else filesystem_of(Path(cache))
    if cache is not None and (kind is None or not is_remote(kind)):
        yield Path(cache) / "machine"
    # Right in a folder in which others may neither rename nor remove it.
    yield Path(tempfile.gettempdir()) / f"jobsight-{os.geteuid()}-machine"


def slurm_client(settings: Settings) -> SlurmClient:
    """Slurm's tools; what seldom changes is asked once an hour, where a place keeps it."""
    kept = None
    with suppress(OutputError):
        kept = machine_folder(settings)
    return SlurmClient(_bounded(settings), kept=kept)


def _bounded(settings: Settings) -> SlurmSettings:
    """The settings of Slurm as a caller asks it, who waits for the answer."""
    slurm, machine = settings.slurm, settings.machine
    return slurm.model_copy(
        update={
            "all_users": slurm.all_users and machine.all_users,
            "details": False,
            "details_per_poll": 1,
            "lookback": machine.days * 86_400,
            "scripts": False,
            "timeout": min(slurm.timeout, _TIMEOUT_S),
        }
    )


def own_history(settings: Settings, step: Step, note: Step, names: Iterable[JobName] = ()) -> str:
    """Ask the tools for what is new; the address of the store that has what they said.

    Nothing is asked twice within `MachineSettings.every`, unless a job of `names` is not known.

    Args:
        settings: of the tools.
        step: is called with what is being done.
        note: is called with what the caller should know of what was read.
        names: jobs that are asked about.

    Raises:
        UsageError: no tools are here.
        SourceError: they give no answer, and never gave one; or they know no job.
        OutputError, StoreError: there is no place for what they say.
    """

    def fill(store: Store, folder: Path) -> None:
        looked = folder / "looked"
        every = settings.machine.every
        if not all(store.numbered(name.number) for name in names):
            every = min(every, _AT_LEAST_S)
        with suppress(OSError):
            if 0 <= time.time() - looked.stat().st_mtime < every:
                return
        problems: dict[str, str] = {}
        begun = time.monotonic()
        left = False
        for kind, make in _makers(settings).items():
            try:
                with closing(make()) as source:
                    first = store.position(source.name) is None
                    reads = first or not settings.machine.background
                    _pour(source, store, begun + settings.machine.patience * reads, step)
                    left |= _remark(source, note, background=settings.machine.background)
            except (SourceError, StoreError) as error:
                problems[kind] = str(error)
        looked.touch(0o600)
        if left and settings.machine.background:
            _read_on(settings, folder)
        _report(problems, store, note)

    return _filled(settings, fill)


def own_jobs(settings: Settings, names: Iterable[JobName], note: Step) -> str:
    """Ask the tools about some jobs, their scripts too; the store's address as `own_history`.

    Raises:
        JobsightError: as by `own_history`.
    """
    asked = list(names)

    def fill(store: Store, _folder: Path) -> None:
        from jobsight.history.slurm.lookup import SlurmLookup

        problems: dict[str, str] = {}
        client = slurm_client(settings)
        if client.has(_SLURM):
            try:
                slurm = _bounded(settings).model_copy(
                    update={"details": True, "scripts": True, "details_per_poll": len(asked)}
                )
                lookup = SlurmLookup(client, client.cluster_name(), slurm)
                known = {id_ for name in asked for id_ in store.numbered(name.number)}
                # HTCondor has jobs of the same numbers.
                slurms = [id_ for id_ in known if id_.startswith("slurm:")]
                for stored in store.get(slurms).values():
                    lookup.known(stored.document)
                store.merge(lookup.collect({str(name.job) for name in asked}))
            except (SourceError, StoreError) as error:
                problems["slurm"] = str(error)
        if (make := _condor(settings)) is not None:
            try:
                with closing(make()) as source:
                    _pour(source, store, time.monotonic(), lambda _text: None)
            except (SourceError, StoreError) as error:
                problems["condor"] = str(error)
        _report(problems, store, note)

    return _filled(settings, fill)


def _filled(settings: Settings, fill: Callable[[Store, Path], None]) -> str:
    """The address of the caller's store after `fill`, which one call runs at a time."""
    if not has_tools(settings):
        enabled = settings.machine.enabled
        none = "here are no tools of Slurm (squeue) or HTCondor (condor_q) to ask"
        raise UsageError(
            "name the history: the store with --store URL, or files with --import FILE or --log "
            f"FILE; {none if enabled else 'the setting machine.enabled forbids to ask the tools'}"
        )
    folder = machine_folder(settings)
    file = folder / _SAVED
    patience = _SHARED_S if file.exists() else settings.machine.patience + _TIMEOUT_S
    with _locked(folder, patience) as ours:
        with suppress(OSError):
            if ours and file.stat().st_size > _LARGEST:
                for old in folder.glob(f"{_SAVED}*"):
                    old.unlink()
        with open_store(str(file), create=True) as store:
            if ours:
                fill(store, folder)
            return store.url


@contextmanager
def _locked(folder: Path, seconds: float) -> Iterator[bool]:
    """Whether this call is the one that asks; where another does, its end is waited for."""
    path = folder / "lock"
    deadline = time.monotonic() + seconds
    while (lock := take(path)) is None and time.monotonic() < deadline:
        while is_locked(path) and time.monotonic() < deadline:
            time.sleep(0.05)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def _makers(settings: Settings) -> dict[str, Callable[[], Source]]:
    """What makes the source of each scheduler whose tools are here, by how its name begins."""
    from jobsight.history.slurm.poller import SlurmSource

    def slurm() -> Source:
        client = slurm_client(settings)
        return SlurmSource(client, client.cluster_name(), _bounded(settings), newest_first=True)

    makers: dict[str, Callable[[], Source]] = {}
    if SlurmClient(settings.slurm).has(_SLURM):
        makers["slurm"] = slurm
    if (condor := _condor(settings)) is not None:
        makers["condor"] = condor
    return makers


def _condor(settings: Settings) -> Callable[[], Source] | None:
    """What makes the source of HTCondor, of the caller's jobs; None: its tools are not here."""
    schedd = settings.machine.schedd
    asked: dict[str, object] = {"timeout": min(settings.condor.timeout, _TIMEOUT_S)}
    if not settings.machine.all_users:
        asked["user"] = None
    bounded = settings.condor.model_copy(update=asked)
    client = CondorClient(bounded, schedd=schedd)
    if not client.has(_CONDOR):
        return None

    def condor() -> Source:
        from jobsight.history.condor.poller import CondorSource

        name = schedd or client.schedd_name()
        if name is None:
            raise SourceError(
                "HTCondor's configuration does not say what the schedd of this machine is called; "
                "name one that condor_status -schedd shows in the setting machine.schedd"
            )
        return CondorSource(client, name, bounded)

    return condor


def _pour(source: Source, store: Store, deadline: float, step: Step) -> None:
    """Take what is new of a source, until nothing is or the time is over."""
    saved = store.position(source.name)
    source.resume(saved, store.active)
    while True:
        step(_doing(source))
        observed = source.poll()
        if observed is None:
            return
        store.merge(observed.documents, [Move(source.name, saved, observed.position)])
        source.committed()
        # Where the position has not moved, what was merged is a part of what it moves behind.
        whole, saved = observed.position != saved, observed.position
        if not observed.more or (whole and time.monotonic() > deadline):
            return


def _doing(source: Source) -> str:
    behind = source.status().get("behind_s")
    more = f", {span(behind)} of its past left to read" if behind else ""
    return f"asking {printable(source.name, 60)}{more}"


def _remark(source: Source, note: Step, *, background: bool) -> bool:
    """Say what is not known of what a source has; whether some of the past is left to read."""
    status = source.status()
    if source.problem is not None:
        note(f"what is known may be old: {printable(source.problem, 200)}")
    elif status.get("accounting") is False:
        note("Slurm keeps no accounts here: only the jobs of the queue are known")
    behind = status.get("behind_s")
    if behind:
        goes_on = "which goes on in the background" if background else "the next call goes on"
        note(f"{span(behind)} of the past are not read yet; {goes_on}")
    return bool(behind)


def _read_on(settings: Settings, folder: Path) -> None:
    """Begin a process that reads the rest of the past into a folder, where one can begin."""
    machine = settings.machine.model_copy(update={"folder": folder.absolute()})
    asked = settings.model_copy(update={"machine": machine})
    with suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "jobsight.answering.machine"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None
        with process.stdin as stream:
            stream.write(asked.model_dump_json(include={"slurm", "condor", "machine"}).encode())


def _main() -> None:
    """Read the past, a slice at a time, until none is left; for `_read_on`."""
    settings = Settings.model_validate(json.load(sys.stdin))
    os.nice(19)
    folder = machine_folder(settings)
    reading = take(folder / "reading")
    ends = time.monotonic() + _MOST_READING_S
    left = reading is not None
    while left and time.monotonic() < ends:
        time.sleep(settings.machine.every)
        left = False
        with _locked(folder, 60) as ours, open_store(str(folder / _SAVED)) as store:
            for make in _makers(settings).values() if ours else ():
                with closing(make()) as source:
                    _pour(source, store, time.monotonic() + _SLICE_S, lambda _text: None)
                    left |= bool(source.status().get("behind_s"))


def _report(problems: dict[str, str], store: Store, note: Step) -> None:
    """Say what failed, by how the names of sources begin; raise it where nothing is known."""
    if not any(True for _ in store.scan(limit=1)):
        none = "the scheduler's tools show no job, neither in the queue nor one that ended lately"
        raise SourceError("; ".join(problems.values()) or none)
    # Tools of a scheduler that is not used here may be installed next to the one that is.
    known = {name.partition(":")[0] for name in store.positions()}
    for kind, problem in problems.items():
        if kind in known or not known:
            note(f"what is known may be old: {printable(problem, 200)}")


if __name__ == "__main__":
    with suppress(JobsightError):  # a call that asks again says what is wrong
        _main()
