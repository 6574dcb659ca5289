"""``jobsight profile -- COMMAND…``: runs a command, or watches processes; what binds them?"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight import __version__
from jobsight.cli.common import ConfigOption, JsonOption, StoreOption, load_settings
from jobsight.cli.output import note, print_json, say
from jobsight.cli.terminal import field, fold
from jobsight.clock import now_micros
from jobsight.commands import child_environment, find_tool, run_command
from jobsight.documents import parse_key, slurm_id
from jobsight.errors import ClusterError, SourceError, StoreError, UsageError
from jobsight.files import Kind, new_file, require_replaceable
from jobsight.format import memory, number, percent, span, timestamp
from jobsight.program import running
from jobsight.program.counters import (
    Counters,
    cachegrind_command,
    last_level_cache,
    read_cachegrind,
)
from jobsight.program.profile import CLASSES, Profile, Timeline, measured, window_shares
from jobsight.program.running import Observed, Seen, observe
from jobsight.program.sampling import Sampler, children_of, machine, pressures
from jobsight.program.slurmjob import cgroup_processes, parse_listpids
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["bound_by", "profile"]

_LEAST_INTERVAL, _MOST_INTERVAL = 0.01, 60.0
_RELIST = 5.0
"""Seconds between two looks for new processes of a Slurm job."""
_PATIENCE = 600.0
"""Seconds without a process after which a job of the prolog counts as ended: its epilog says so."""


def profile(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND...", help="Run without a shell.", show_default=False),
    ] = None,
    pid: Annotated[
        int | None, typer.Option(min=1, help="Watch this process and its descendants.")
    ] = None,
    slurm: Annotated[
        int | None,
        typer.Option(metavar="JOBID", min=1, help="Watch a Slurm job's processes on this node."),
    ] = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw the timeline (SVG) there.")
    ] = None,
    interval: Annotated[
        float,
        typer.Option(
            min=_LEAST_INTERVAL, max=_MOST_INTERVAL, help="Seconds between two samples at least."
        ),
    ] = running.INTERVAL,
    cachegrind: Annotated[
        bool,
        typer.Option(
            help="Run COMMAND again under valgrind (30–100 times slower): is it cpu or memory?"
        ),
    ] = False,
    drawn: Annotated[
        float | None,
        typer.Option(
            metavar="PROBABILITY",
            min=0.0,
            max=1.0,
            help="With --slurm and --json, for Slurm's prolog: wait for the job's processes, and "
            "keep with what probability the job was chosen.",
        ),
    ] = None,
    until: Annotated[
        Path | None,
        typer.Option(
            "--end-file", metavar="FILE", help="Of running processes: end when this file exists."
        ),
    ] = None,
    save: Annotated[
        bool,
        typer.Option(
            "--save", help="Keep the shares in the store, in the document of the Slurm job."
        ),
    ] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Run a command, or watch processes, and report what binds them: shares of wall time.

    The exit status is COMMAND's, or 128 + the signal that ended it. With --json, what COMMAND
    prints goes to standard error.
    """
    if bool(command) + (pid is not None) + (slurm is not None) != 1:
        raise UsageError("give one of: -- COMMAND..., --pid PID, --slurm JOBID")
    if cachegrind and not command:
        raise UsageError("--cachegrind runs a command again; give -- COMMAND...")
    if drawn is not None and not (slurm is not None and as_json):
        raise UsageError("--drawn goes with --slurm and --json")
    valgrind = shutil.which("valgrind") if cachegrind else None
    if cachegrind and valgrind is None:
        raise ClusterError("--cachegrind needs valgrind, which is not on the PATH; install it")
    settings = load_settings(config, {"store": store}) if save else None
    job = None if settings is None else _job_id(slurm, settings)
    if output is not None:
        require_replaceable(output, Kind.TIMELINE)
        import matplotlib  # noqa: F401  # what is missing is reported before the run
    started, before = now_micros(), pressures()
    status, seen, missing = _watched(
        command, pid, slurm, interval, to_stderr=as_json, waits=drawn is not None, until=until
    )
    counted = _counted(valgrind, command, missing) if valgrind and command else None
    gpus = any(Path(path).exists() for path in _GPUS)
    found = measured(seen.timeline.windows, missing=missing, counted=counted, gpus=gpus)
    # By resource: the share of the time in which some task of the whole machine waited for it.
    after, wall = pressures(), found.signals["wall_s"]
    found.signals["pressure"] = {
        name: min((after[name] - first) / wall, 1.0)
        for name, first in before.items()
        if name in after and wall > 0
    }
    if as_json:
        document = found.document(
            jobsight=__version__,
            command=command,
            pid=pid,
            slurm=slurm,
            drawn=None if drawn is None else _drawn(drawn),
            exit_status=status,
            started=timestamp(started),
            machine={**machine(), "gpus": gpus},
            sampling={
                "samples": seen.samples,
                "interval_s": interval,
                "own_cpu_s": round(seen.cost, 4),
                "left_running": seen.left,
            },
        )
        print_json(document)
    else:
        (note if command else say)("\n".join(_lines(found, seen.cost)))
    if output is not None:
        from jobsight.reports.plots import profile_plot

        with new_file(output, Kind.TIMELINE) as temporary:
            plot = profile_plot(seen.timeline.windows, f"bound by: {bound_by(found)}")
            temporary.write_text(f"<!-- {Kind.TIMELINE.schema} -->\n{plot}\n", encoding="utf-8")
    if settings is not None and job is not None:
        _save(job, found, settings)
    if status:
        raise typer.Exit(status)


def _drawn(probability: float) -> dict[str, Any]:
    """What Slurm's prolog says of the job next to its number."""
    cluster, node = (os.environ.get(f"SLURM{name}") for name in ("_CLUSTER_NAME", "D_NODENAME"))
    return {"probability": probability, "cluster": cluster, "node": node}


def _job_id(slurm: int | None, settings: Settings) -> str:
    """The document of the Slurm job that is watched, or that this runs in.

    Raises:
        UsageError: neither is known.
    """
    inside = os.environ.get
    cluster = settings.slurm.cluster or inside("SLURM_CLUSTER_NAME")
    array, task = inside("SLURM_ARRAY_JOB_ID"), inside("SLURM_ARRAY_TASK_ID")
    own = f"{array}_{task}" if array and task else inside("SLURM_JOB_ID")
    job = own if slurm is None else str(slurm)
    if job is None:
        raise UsageError("--save keeps shares of a Slurm job: run within one, or give --slurm")
    if cluster is None:
        raise UsageError("the job's cluster is not known; set slurm.cluster in the settings")
    return slurm_id(cluster, job)


def _save(job: str, found: Profile, settings: Settings) -> None:
    """Keep what was measured in the document of a job; `StoreError`: the store refuses it."""
    from jobsight.service.profiles import job_on_node, keep
    from jobsight.store import open_store

    key = parse_key(job)
    with open_store(settings=settings.store) as store:
        job = job_on_node(store, key.cluster, key.job) or job
        refusal = keep(store, job, found)
    if refusal is not None:
        raise StoreError(f"the shares of {job} could not be saved: {printable(refusal)}")
    note(f"saved the shares of {job} in {printable(store.url)}")


def _watched(
    command: list[str] | None,
    pid: int | None,
    slurm: int | None,
    interval: float,
    *,
    to_stderr: bool,
    waits: bool,
    until: Path | None,
) -> tuple[int | None, Seen, dict[str, str]]:
    """The command's exit status, what was seen, and by class why a signal is missing.

    With `waits` the processes may start later, and others after they have ended; all ends when
    the file `until` exists, or when it cannot be known whether it does.

    Raises:
        SourceError: the command cannot be started, or no such process runs.
    """
    counters = Counters() if command else None
    sampler = Sampler(_roots(pid, slurm), fresh=bool(command) or waits)
    if not command and not waits and not sampler.running:
        what = f"process {pid}" if pid else f"process of job {slurm}"
        raise SourceError(f"no {what} runs on this machine")
    asked = (lambda: False) if until is None else (lambda: not _is_missing(until))
    with Observed(sampler.reap, asked) as observed, _live() as show:
        if command:
            observed.start(command, to_stderr=to_stderr)
        patience = _PATIENCE if waits else 0.0
        seen = observe(observed, sampler, counters, interval=interval, patience=patience, show=show)
        if command:
            observed.finish()
    reason = (counters.missing if counters else None) or _ATTACHED
    return observed.status, seen, {**sampler.missing, "memory": reason}


def _is_missing(path: Path) -> bool:
    """Whether a file is missing for sure."""
    try:
        path.lstat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


_GPUS = ("/dev/nvidia0", "/dev/kfd", "/dev/dri/renderD128")
_ATTACHED = "counters are attached only where a command starts; its part of cpu is unknown"


def _roots(pid: int | None, slurm: int | None) -> Callable[[], list[int]]:
    """The function that gives the sampler the processes to begin with."""
    if pid is not None:
        return lambda: [pid]
    if slurm is None:
        own = os.getpid()
        return lambda: children_of(own)
    job, listed, at = slurm, list[int](), -_RELIST
    begun, sluid = time.monotonic(), os.environ.get("SLURM_JOB_SLUID", "")
    listpids = _listpids(job)

    def processes() -> list[int]:
        nonlocal listed, at
        now = time.monotonic()
        pause = _RELIST if listed else min(max((now - begun) / 10, 1.0), _RELIST)
        if now - at >= pause:
            found = cgroup_processes(job, sluid=sluid) or listpids()
            listed, at = sorted(found), time.monotonic()
        return listed

    return processes


def _listpids(job: int) -> Callable[[], set[int]]:
    """Lists the processes of a job as Slurm's own tool does; none where it fails.

    Settings are read before: what samples cost makes them rare.
    """
    settings = load_settings(None, {}).slurm
    tool = find_tool("scontrol", settings.bin, settings.prefix)
    # Where several nodes are of one machine, it must be said which is meant.
    node = [name for name in (os.environ.get("SLURMD_NODENAME"),) if name]

    def listed() -> set[int]:
        if tool is None:
            raise ClusterError(
                f"job {job} has no control group on this machine, and scontrol is not on the PATH"
            )
        command = (*settings.prefix, tool, "listpids", str(job), *node)
        done = run_command(command, env=child_environment(), timeout=10, most_output=1 << 20)
        return parse_listpids(done.stdout, job)

    return listed


def _counted(
    valgrind: str, command: Sequence[str], missing: dict[str, str]
) -> tuple[float, float] | None:
    """Misses and instructions of another run of the command; why not goes into `missing`."""
    note("jobsight: running it again under cachegrind, which takes 30 to 100 times as long")
    with tempfile.TemporaryDirectory(prefix="jobsight-") as folder:
        try:
            subprocess.run(  # noqa: S603  # the user's own command, without a shell
                cachegrind_command(valgrind, folder, command, last_level_cache()),
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            return read_cachegrind(Path(folder))
        except (KeyboardInterrupt, SourceError) as error:
            missing["memory"] = str(error) or "the run under cachegrind was interrupted"
            return None


def bound_by(found: Profile) -> str:
    """What a run was bound by, in words."""
    if found.classes:
        return " or ".join(found.classes)
    return "not known: it ran too short" if found.signals["wall_s"] else "not known"


def _lines(found: Profile, cost: float) -> Iterator[str]:
    signals = found.signals
    yield fold(
        f"jobsight: {span(signals['wall_s'])}, {number(signals['cores'], 2)} cores, "
        f"{memory(signals['resident_bytes'] / (1 << 20))}; bound by: {bound_by(found)}"
    )
    for name in CLASSES:
        share = found.shares[name]
        reason = f"unmeasured: {found.unmeasured.get(name, '')}"
        yield field(name, reason if share is None else f"{percent(share):>5}", 11)
    share = cost / signals["wall_s"] if signals["wall_s"] else 0.0
    yield f"  (sampling took {100 * share:.2f} % of a core)"


@contextlib.contextmanager
def _live() -> Iterator[Callable[[Timeline], None]]:
    """A line on standard error about the last seconds, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _timeline: None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(
        console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True
    ) as live:
        yield lambda timeline: live.update(_now(timeline), refresh=True)


def _now(timeline: Timeline) -> str:
    windows = timeline.windows[-_LIVE:]
    if not windows:
        return ""
    split, last = window_shares(windows)[-1], windows[-1]
    total = sum(split.values())
    shares = "  ".join(f"{name} {percent(part / (total or 1))}" for name, part in split.items())
    resident = memory(last.resident / (1 << 20))
    return f"{shares}  {number(last.cpu_s / last.seconds, 2)} cores  {resident}"


_LIVE = 6
"""Windows that the live line looks at: the share of the last one depends on those around it."""
