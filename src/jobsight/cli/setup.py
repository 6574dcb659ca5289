"""``jobsight setup``: install what lets the machine run Jobsight by itself."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from jobsight.acting.condor.installing import (
    FOLDER,
    POLICY,
    PROFILE,
    SHARING,
    WARNINGS,
    file_texts,
    missing,
    warnings_text,
)
from jobsight.acting.slurm.installing import Cluster
from jobsight.cli.common import ConfigOption, caller, load_settings
from jobsight.cli.output import note, say
from jobsight.errors import OutputError, UsageError
from jobsight.files import write_shared
from jobsight.history.condor.client import CondorClient
from jobsight.kernelcache import cache_directory, lock_file, note_compiled
from jobsight.locks import take
from jobsight.text import printable

__all__ = ["htcondor", "kernels", "slurm", "systemd"]

_MOST_S = 600
"""CPU time of a compilation in the background."""
_LOG = """\
008 (-01.-01.-01) 2026-11-21 01:00:00 Global JobLog: ctime=1 id=a.1.1.1 sequence=1 size=0 offset=0
...
000 (001.000.000) 2026-11-21 01:00:00 Job submitted from host: <192.0.2.1:9618>
...
028 (001.000.000) 2026-11-21 01:00:00 Job ad information event triggered.
Owner = "u"
TriggerEventTypeNumber = 0
...
012 (001.000.000) 2026-11-21 01:00:01 Job was held.
\tno such file
\tCode 13 Subcode 2
...
"""
_ACCOUNTING = """\
JobID|User|Partition|State|Submit|Start|End|Timelimit|ReqCPUS|ReqMem
1|u|p|COMPLETED|2026-11-21T01:00:00|2026-11-21T01:00:01|2026-11-21T01:00:09|00:10:00|1|1G
2|u|p|RUNNING|2026-11-21T01:00:00|2026-11-21T01:00:10|Unknown|00:10:00|1|1G
3|u|p|PENDING|2026-11-21T01:00:20|Unknown|Unknown|00:10:00|1|1G
"""
_PROGRAM = "/opt/jobsight/bin/jobsight"


def systemd(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the units.")] = Path(
        "/etc/systemd/system"
    ),
    program: Annotated[
        Path | None, typer.Option(help="The command that units run (default: this one).")
    ] = None,
) -> None:
    """Write the units of the collector, the service, and the timers; start nothing."""
    command = (program or Path(sys.argv[0])).resolve()
    if any(map(str.isspace, str(command))):
        raise OutputError(f"systemd takes no blanks in the path of a program: {command}")
    for unit in sorted(files("jobsight.service").joinpath("units").iterdir(), key=lambda u: u.name):
        text = unit.read_text(encoding="utf-8").replace(_PROGRAM, str(command))
        _write(output / unit.name, text)
    say("now: systemctl daemon-reload && systemctl enable --now jobsight-collect jobsight-serve")
    say("and, as wanted: systemctl enable --now jobsight-train@hold.timer jobsight-prune.timer")


def htcondor(
    show: Annotated[bool, typer.Option("--print", help="Print the files; write nothing.")] = False,
    install: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the files into this folder.")
    ] = None,
    remove: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Remove the files from this folder.")
    ] = None,
    warnings: Annotated[
        bool, typer.Option("--warnings", help="Also warnings at submission, made from the pool.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Write the policy files for HTCondor, and show what to add to its configuration.

    No file of the site is changed. To remove all: `jobsight acting off`, delete the lines that were
    added, condor_reconfig, then --remove FOLDER.
    """
    if [show, install is not None, remove is not None].count(True) != 1:
        raise UsageError("give one of --print, --install FOLDER and --remove FOLDER")
    settings = load_settings(config, {})
    folder = (install or remove or FOLDER).resolve()
    texts, client = file_texts(settings.acting, folder), CondorClient(settings.condor)
    if warnings or remove is not None:
        texts[WARNINGS] = "" if remove is not None else warnings_text(client)
    if show:
        for name, text in texts.items():
            say(f"#### {name}\n{text}")
    elif remove is not None:
        for name in ("SYSTEM_PERIODIC_RELEASE_NAMES", "JOB_TRANSFORM_NAMES"):
            if "Jobsight" in (client.setting(name) or ""):
                raise UsageError(
                    f"HTCondor's {name} has Jobsight still: delete the include lines, and run "
                    "condor_reconfig first; a missing file is an error of its configuration"
                )
        for name in texts:
            (folder / name).unlink(missing_ok=True)
            say(f"removed {folder / name}")
        return
    for name, text in texts.items() if install is not None else ():
        _write(folder / name, text, 0o755 if text.startswith("#!") else 0o644)
    say("add to HTCondor's configuration on the access point, then run condor_reconfig:")
    included = {POLICY: True, WARNINGS: warnings, SHARING: settings.acting.share}
    for name in (name for name, is_wanted in included.items() if is_wanted):
        say(f"  include : {folder / name}")
    say("answers in condor_q, for the shells of users:")
    say(f"  ln -s {folder / PROFILE} /etc/profile.d/")
    for line in missing(client, caller()):
        say(f"missing: {printable(line)}")


def slurm(
    show: Annotated[bool, typer.Option("--print", help="Print the files; write nothing.")] = False,
    install: Annotated[bool, typer.Option("--install", help="Write the files.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the files.")] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Of the files (default: that of slurm.conf).")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Write the files for Slurm, show the lines to add, and what the cluster still lacks.

    No file of the site is changed. The files must be under the same path where slurmctld runs, on
    the login nodes and on the compute nodes.
    """
    if [show, install, remove].count(True) != 1:
        raise UsageError("give one of --print, --install and --remove")
    cluster = Cluster(load_settings(config, {}), folder)
    texts = cluster.texts(Path(sys.argv[0]).resolve())
    callers = list(cluster.callers())
    ours = [name for name in texts if name.startswith("jobsight-")]
    if remove:
        cluster.require_config()  # else it is not known whether slurmd calls them
        for name, place in callers:
            if name.endswith(".sh"):  # a program of Prolog that is missing drains the node
                raise UsageError(
                    f"{printable(place)} calls {name}: take that out of slurm.conf first"
                )
        for name in ours:
            with contextlib.suppress(FileNotFoundError):
                (cluster.folder / name).unlink()
                say(f"removed {cluster.folder / name}")
        for name, place in callers:
            say(f"{printable(place)} has a line for {name} still: delete it")
        say("slurmctld keeps what it has loaded until job_submit.lua is changed or touched")
        return
    for name, text in texts.items():
        if show:
            say(f"#### {name}\n{text}")
        elif name in ours:
            _write(cluster.folder / name, text, 0o755 if name.endswith(".sh") else 0o644)
    say("add these lines, unless they are there; then touch job_submit.lua:")
    for place, line in cluster.lines():
        say(f"to {printable(place)}:\n  {printable(line)}")
    for line in cluster.missing(caller()):
        say(f"missing: {printable(line)}")


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    write_shared(path, text, mode)
    say(f"wrote {path}")


def kernels(
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
) -> None:
    """Compile the kernels that read large logs and histories; else the first command does.

    Commands that had no need to wait for that start it in the background, with the lowest
    priority; `JOBSIGHT_COMPILE=never` forbids it.
    """
    if cache_directory() is None:
        raise OutputError("no folder for machine code can be written: set NUMBA_CACHE_DIR")
    lock = take(lock_file())
    if lock is None:
        note("another process compiles them")
        return
    if background:
        os.nice(19)
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_S, _MOST_S))
    try:
        _compile()
        note_compiled()
    finally:
        os.close(lock)
    say(f"compiled in {cache_directory()}")


def _compile() -> None:
    """Answer questions about a few jobs as always, but with compiled kernels alone."""
    from jobsight import compiling  # noqa: F401 - with Numba here, none runs in plain Python
    from jobsight.cli.main import app

    with tempfile.TemporaryDirectory() as folder:
        log, accounting = Path(folder, "log"), Path(folder, "jobs.sacct")
        log.write_text(_LOG, encoding="ascii")
        accounting.write_text(_ACCOUNTING, encoding="ascii")
        calls = (
            ["hold", "--all", "--log", str(log), "--model", "none"],
            ["fail", "--pending", "--import", str(accounting), "--model", "none"],
            ["start", "--pending", "--import", str(accounting), "--model", "none"],
        )
        for words in calls:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
                app(words, standalone_mode=False)
