"""The options ``dagman`` of a plan: submit commands, settings of DAGMan, some of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jobsight.cluster.plan import Option, Plan
from jobsight.errors import ClusterError
from jobsight.text import printable

__all__ = ["Options", "options_of"]

_COMMAND = re.compile(r"[A-Za-z_]\w*|(?:\+|MY\.)[A-Za-z_]\w*", re.ASCII)
_SETTING = re.compile(r"DAGMAN_[A-Z0-9_]+", re.ASCII)
_OURS = frozenset(
    {
        "allowed_execute_duration", "arguments", "checkpoint_exit_code", "container_image",
        "environment", "error", "executable", "getenv", "hold", "include", "initial_dir",
        "initialdir", "job_machine_attrs", "job_machine_attrs_history_length", "kill_sig", "log",
        "max_retries", "on_exit_hold", "on_exit_remove", "output", "periodic_hold",
        "periodic_hold_reason", "periodic_release", "periodic_remove", "periodic_vacate",
        "preserve_relative_paths", "queue", "request_cpus", "request_disk", "request_gpus",
        "request_memory", "retry_until",
        "should_transfer_files", "success_exit_code", "transfer_checkpoint_files",
        "transfer_container", "transfer_executable", "transfer_input_files",
        "transfer_output_files", "universe", "when_to_transfer_output",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """The options ``dagman`` of a plan, by what they are for.

    Attributes:
        commands: further submit commands. settings: of DAGMan (``DAGMAN_…``). release_after:
        seconds after which a job held by a passing error is released, `releases` times. elsewhere:
        seconds for which a job that failed avoids where it ran last; 0: not at all. starts: of a
        job to which files are sent, without an end or a save that was fetched, after which
            it is given up; 0: never.
    """

    commands: Mapping[str, str]
    settings: Mapping[str, str]
    release_after: int = 60
    releases: int = 3
    elsewhere: int = 600
    starts: int = 50


def options_of(plan: Plan) -> Options:
    """The plan's options ``dagman``, checked.

    Raises:
        ClusterError: a name is bad or is written by Jobsight itself; a value has line breaks.
    """
    commands: dict[str, str] = {}
    settings: dict[str, str] = {}
    own: dict[str, int] = {}
    for name, value in plan.options.get("dagman", {}).items():
        text = _one_line(name, value)
        if name in ("release_after", "releases", "elsewhere", "starts"):
            own[name] = _whole(name, text)
        elif _SETTING.fullmatch(name):
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
    return Options(commands, settings, **own)


def _one_line(name: str, value: Option) -> str:
    if not isinstance(value, list):
        text = str(value)
    elif name.lower() == "requirements":
        text = " && ".join(f"({item})" for item in value)
    else:
        text = ", ".join(str(item) for item in value)
    if not text.isprintable() or not text.strip():
        raise ClusterError(
            f"option dagman.{printable(name, 60)} is empty or has line breaks; write it as one line"
        )
    return text.strip()


def _whole(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise ClusterError(
            f"option dagman.{name} is {printable(text, 40)!r}; give a whole number from 0"
        )
    return int(text)
