"""What DAGMan is given: the lines of a DAG file and of its submit descriptions.

HTCondor's own writer (`htcondor2.dags`) is not used: it writes ``CATEGORY`` where ``MAXJOBS`` is
meant, and needs the bindings. How text is escaped: the manual page condor_submit(1) (``arguments``,
``environment``, "Using Macros").

- Where the folder is not shared, files are transferred: each run gets the config, the history and
  its own folder, and gives back its folder; ``best`` gets all and gives back ``best/``.
- A run that is evicted gets SIGTERM, saves within `VACATE_SECONDS` and exits with `RESUME`; its
  folder is kept by the access point and is there when it starts again, also when it exits so by
  itself to have its checkpoint fetched (`save_every`).
- A job that failed (exit status, signal) is started again, at most `RETRIES` times. One held by an
  error of a machine or a transfer is released a few times. One held by anything else but a person
  (memory, size, time) is removed. So none is left held.
- One whose machine is out of touch is started elsewhere after `LEASE_SECONDS`.
- ``register`` and the choice of points run on the access point.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jobsight.errors import ClusterError
from jobsight.text import printable, wordset
from jobsight.tuning.config import LEARNING
from jobsight.tuning.folder import Sweep
from jobsight.tuning.scheduler import RESUME, require_plain

__all__ = ["DAG", "EVENTS", "environment_list", "files_of", "macro_text", "word_list"]

DAG, EVENTS = "sweep.dag", "events.log"
_CONFIG = "dagman.config"
_CHOOSE = "choose.sh"

VACATE_SECONDS = 120
LEASE_SECONDS = 600
"""HTCondor's own default is 40 minutes. The option `job_lease_duration` overrides it."""
RETRIES = 3
_RELEASES, _RELEASE_AFTER = 3, 60
_MOST_AT_ONCE = 8
"""Runs at once of a method that learns."""

PASSING = (6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 19, 21, 23, 35, 36, 45, 48, 49)
"""Hold codes of errors that may not be there on another machine, or later (see codes.py)."""
BY_HAND = (1, 15, 16)
"""Hold codes of jobs that wait for a person, or for their input."""

_COMMAND = re.compile(r"[A-Za-z_]\w*|(?:\+|MY\.)[A-Za-z_]\w*", re.ASCII)
_SETTING = re.compile(r"DAGMAN_[A-Z0-9_]+", re.ASCII)
_OURS = wordset("""
arguments checkpoint_exit_code container_image environment error executable getenv hold include
initialdir initial_dir kill_sig log max_retries on_exit_hold on_exit_remove output periodic_hold
periodic_release periodic_remove periodic_vacate preserve_relative_paths queue request_cpus
request_disk request_gpus request_memory should_transfer_files transfer_checkpoint_files
transfer_container transfer_executable transfer_input_files transfer_output_files universe
when_to_transfer_output
""")
"""Submit commands that are written here."""
_FOR_LOCAL = frozenset({"accounting_group", "accounting_group_user", "priority", "nice_user"})
"""Commands that a job of the access point takes too; attributes as well."""


def files_of(sweep: Sweep, runs: Sequence[int]) -> dict[str, list[str]]:
    """The lines of all files, by name, for these runs and what finishes the sweep.

    Raises:
        ClusterError: an option, a path or a word cannot be in them.
    """
    commands, settings = _options(sweep)
    files = {
        DAG: list(_dag_lines(sweep, runs, settings)),
        "run.sub": list(_submit_lines(sweep, "run", commands)),
        "best.sub": list(_submit_lines(sweep, "best", commands)),
        "register.sub": list(_submit_lines(sweep, "register", commands)),
    }
    if settings:
        files[_CONFIG] = [f"{name} = {value}" for name, value in sorted(settings.items())]
    if _chooses(sweep):
        words = shlex.join([*sweep.planned.command, "sweep", "node", "ask"])
        files[_CHOOSE] = ["#!/bin/sh", f'exec {words} "$1" .']
    for name, lines in files.items():
        for line in lines:
            require_plain(f"a line of {name}", line)
    return files


def _chooses(sweep: Sweep) -> bool:
    """Whether the access point chooses points as runs begin; runs that see the study do so."""
    return sweep.config.method in LEARNING and not sweep.config.sees_folder


def _dag_lines(sweep: Sweep, runs: Sequence[int], settings: Mapping[str, str]) -> Iterator[str]:
    """The DAG file's lines; paths in it are relative to the sweep's folder."""
    config = sweep.config
    if settings:
        yield f"CONFIG submitted/{_CONFIG}"
    names = [f"run-{run:04d}" for run in runs]
    most = config.at_once or (_MOST_AT_ONCE if config.method in LEARNING else 0)
    for name, run in zip(names, runs, strict=True):
        yield f"JOB {name} submitted/run.sub"
        yield f'VARS {name} run="{run}" place="{run:04d}"'
        yield f"RETRY {name} 1"
        if _chooses(sweep):
            yield f"SCRIPT PRE {name} submitted/{_CHOOSE} {run}"
        elif most:
            yield f"CATEGORY {name} runs"
    if _chooses(sweep):
        # Each of `most` lanes is one run after another, so that each learns from those before.
        for name, later in zip(names, names[most:], strict=False):
            yield f"PARENT {name} CHILD {later}"
    elif most and names:
        yield f"MAXJOBS runs {most}"
    yield "JOB best submitted/best.sub"
    yield "JOB register submitted/register.sub"
    yield "PARENT best CHILD register"
    if names:
        yield f"PARENT {' '.join(names)} CHILD best"


def _submit_lines(sweep: Sweep, node: str, commands: Mapping[str, str]) -> Iterator[str]:
    """The lines of the submit description of runs, of ``best`` or of ``register``."""
    config, local = sweep.config, node == "register"
    image = None if local else sweep.planned.image
    yield f"universe = {'local' if local else 'container' if image else 'vanilla'}"
    command = ["jobsight"] if image else sweep.planned.command
    if "/" in command[0]:
        yield f"executable = {macro_text(command[0])}"
        command = command[1:]
    else:  # HTCondor does not look on the PATH
        yield "executable = /usr/bin/env"
    yield "transfer_executable = False"
    if image:
        yield f"container_image = {macro_text(image)}"
        if config.sees_folder:  # or it would be transferred, which such a job does not
            yield "transfer_container = False"
    words = ["sweep", "node", node, *(["$(run)"] if node == "run" else []), "."]
    yield f'arguments = "{word_list(command)} {" ".join(words)}"'
    yield f"initialdir = {macro_text(sweep.planned.folder)}"
    if variables := config.program.environment:
        yield f'environment = "{environment_list(variables)}"'
    yield f"log = submitted/{EVENTS}"
    yield "output = submitted/logs/$(JOB).out"
    yield "error = submitted/logs/$(JOB).err"
    asked = config.resources
    yield f"request_cpus = {1 if local else asked.cpus}"
    yield f"request_memory = {1024 if local else asked.memory}"
    yield f"request_disk = {(512 if local else asked.disk) * 1024}"
    if asked.gpus and node == "run":
        yield f"request_gpus = {asked.gpus}"
    if not local:
        yield from _transfer_lines(sweep, node)
        yield f"max_retries = {RETRIES if node == 'run' else 1}"
        if "job_lease_duration" not in {name.lower() for name in commands}:
            yield f"job_lease_duration = {LEASE_SECONDS}"
    passing = f"{_member(PASSING)} && NumHolds <= {_RELEASES}"
    waited = f"time() - EnteredCurrentStatus >= {_RELEASE_AFTER}"
    yield f"periodic_release = {passing} && {waited}"
    # The queue does not count how often jobs of the universe ``local`` complete.
    yield f"periodic_remove = JobStatus == 5 && !({passing}) && !{_member(BY_HAND)}"
    if node == "run" and asked.time:
        yield f"periodic_vacate = JobStatus == 2 && time() - JobCurrentStartDate > {asked.time}"
    for name, value in sorted(commands.items()):
        if not local or name.startswith(("+", "MY.")) or name.lower() in _FOR_LOCAL:
            yield f"{name} = {value}"
    yield "queue"


def _transfer_lines(sweep: Sweep, node: str) -> Iterator[str]:
    if node == "run":
        yield f"checkpoint_exit_code = {RESUME}"
        yield "kill_sig = SIGTERM"
        yield f"job_max_vacate_time = {VACATE_SECONDS}"
    if sweep.config.sees_folder:
        yield "should_transfer_files = NO"
        return
    yield "should_transfer_files = YES"
    yield "preserve_relative_paths = True"
    inputs = "sweep.yaml, sweep.json, history"
    if node == "run":
        yield "when_to_transfer_output = ON_EXIT_OR_EVICT"
        yield f"transfer_input_files = {inputs}, runs/$(place)"
        yield "transfer_output_files = runs/$(place)"
        yield "transfer_checkpoint_files = runs/$(place)"
    else:
        yield "when_to_transfer_output = ON_EXIT"
        yield f"transfer_input_files = {inputs}, study.log, runs, best"
        yield "transfer_output_files = best"


def _member(codes: tuple[int, ...]) -> str:
    return f"member(HoldReasonCode, {{{', '.join(map(str, codes))}}})"


def _options(sweep: Sweep) -> tuple[dict[str, str], dict[str, str]]:
    """The config's options ``dagman``: further submit commands, and settings of DAGMan.

    Raises:
        ClusterError: a name is bad or is written by Jobsight itself.
    """
    commands: dict[str, str] = {}
    settings: dict[str, str] = {}
    for name, value in sweep.config.dagman.items():
        text = value if isinstance(value, str) else ", ".join(value)
        if name.lower() == "requirements" and not isinstance(value, str):
            text = " && ".join(f"({item})" for item in value)
        if _SETTING.fullmatch(name):
            settings[name] = text
        elif not _COMMAND.fullmatch(name):
            raise ClusterError(
                f"option dagman.{printable(name, 60)} is not a submit command; give names such as "
                "requirements, accounting_group, MY.ProjectName, DAGMAN_MAX_JOBS_IDLE"
            )
        elif name.lower() in _OURS:
            raise ClusterError(
                f"option dagman.{name}: this submit command is written by jobsight; set the "
                "config's own resources, program or shared instead, or leave it out"
            )
        else:
            commands[name] = text
    return commands, settings


def macro_text(text: str) -> str:
    """Text where submit expands macros: a ``$`` stays one.

    Two of them would be expanded when a machine is matched, and have a macro of that moment.
    """
    pairs = text.replace("$$", "\0")
    return pairs.replace("$", "$(DOLLAR)").replace("\0", "$$(DOLLARDOLLAR)")


def word_list(words: Iterable[str]) -> str:
    """Words as they are between the double quotes of ``arguments``, macros escaped."""
    return " ".join(macro_text(_word(word)) for word in words)


def environment_list(variables: Mapping[str, str]) -> str:
    """Variables as they are between the double quotes of ``environment``, macros escaped."""
    return " ".join(
        f"{name}={macro_text(_quoted(value))}" for name, value in sorted(variables.items())
    )


def _word(word: str) -> str:
    plain = word.isalnum() or (word and all(c.isalnum() or c in "-_./:=+@%" for c in word))
    return word if plain else _quoted(word)


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''").replace('"', '""')
    return f"'{doubled}'"
