"""Asks Slurm's tools: runs them without a shell, within a time limit, and counts the calls.

What is read is text (``squeue --Format``, ``sacct --parsable``, ``scontrol``): it is steadier over
22.05 to 26.05 than their JSON. Every delimiter has 16 random characters, so no job name can
imitate it. Times are asked for as seconds since 1970 (``SLURM_TIME_FORMAT=%s``); tools that print
local times all the same are refused, unless the settings name their zone. Of a federation
the cluster's own jobs alone are asked for (``--local``), whatever it shows to people.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import hashlib
import json
import os
import re
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from jobsight.clock import zone_named
from jobsight.commands import Ended, child_environment, find_tool, run_command
from jobsight.errors import OutputError, SourceError
from jobsight.files import new_file
from jobsight.history.slurm.sacct import COLUMNS, Run, exact_rows, join_runs
from jobsight.history.slurm.scontrol import (
    Config,
    Node,
    Partition,
    Shown,
    read_config,
    read_jobs,
    read_nodes,
    read_partitions,
)
from jobsight.history.slurm.squeue import Queued, format_option, read_queue
from jobsight.program.submission import batchscript
from jobsight.settings import SlurmSettings
from jobsight.text import printable

__all__ = ["ENDED_STATES", "PASSING", "FailureKind", "SlurmClient", "SlurmError", "classify"]

ENDED_STATES = "BF,CA,CD,DL,F,NF,OOM,PR,RQ,RS,RV,TO"
"""States that sacct is asked for when it is asked what ended in a span of time."""

_KEPT_NS = 3600 * 1_000_000_000
_MICROS = 1_000_000
_MOST_SHOWN = 1000
_UNWRITTEN = b"job script retrieval failed"
"""What scontrol says of any failure with a batch script; it ends as if all were well (to 24.11)."""

_KEPT_ENVIRONMENT = (
    *("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_DEBUG_FLAGS"),
    *("SBATCH_ACCOUNT", "SBATCH_PARTITION", "SBATCH_QOS", "SBATCH_RESERVATION"),
)
_DROPPED_ENVIRONMENT = ("SLURM_", "SQUEUE_", "SACCT_", "SCONTROL_", "SBATCH_", "SCANCEL_")


class FailureKind(enum.StrEnum):
    """Kinds of failure."""

    DOWN = "down"
    """The controller, or for sacct the accounting daemon, cannot be reached."""
    SLOW = "slow"
    """No answer in time, or a request to ask less often."""
    NO_ACCOUNTING = "no_accounting"
    """The cluster keeps no accounts in a database."""
    NO_PERMISSION = "no_permission"
    NO_JOB = "no_job"
    """No such job (any more)."""
    MISSING = "missing"
    """The command is not there."""
    TOO_MUCH = "too_much"
    """More output than the settings allow, or slurmdbd gives (MaxQueryTimeRange)."""
    OTHER = "other"


PASSING = (FailureKind.DOWN, FailureKind.SLOW, FailureKind.MISSING)
"""Failures that say nothing of the job: asked again, the tool may answer."""


class SlurmError(SourceError):
    """A Slurm tool gave no answer.

    Attributes:
        kind: of failure.
    """

    def __init__(self, message: str, kind: FailureKind) -> None:
        super().__init__(message)
        self.kind = kind


_SIGNS: tuple[tuple[FailureKind, str], ...] = (
    (FailureKind.TOO_MUCH, r"too wide of a date range|result exceeds size limit"),
    (FailureKind.NO_ACCOUNTING, r"accounting storage is disabled|accounting is disabled"),
    (
        FailureKind.NO_JOB,
        r"invalid job id|job\S*( [\d_+]+)? not found|job/step already completing|no such job|"
        r"job has already finished",
    ),
    (
        FailureKind.NO_PERMISSION,
        r"access/permission denied|permission denied|user .*not authorized|"
        r"authentication|munge|zero bytes were transmitted|invalid user id",
    ),
    (FailureKind.SLOW, r"timed out|timeout|rate limit|too many requests|try again|busy|back ?off"),
    (
        FailureKind.DOWN,
        r"unable to contact|connection refused|connection reset|unreachable|connection failure|"
        r"problem talking to the database|unable to connect|failed to connect|"
        r"slurm_persist_conn|resolve|no route|connection to .* (failed|lost)|in standby",
    ),
)
"""Messages of Slurm 22.05 to 26.05 (src/common/slurm_errno.c, slurm_persist_conn.c), in the order
in which they are looked for: the most specific first, since one failure prints several lines."""

_COMPILED = [(kind, re.compile(signs, re.IGNORECASE)) for kind, signs in _SIGNS]


def classify(stderr: str) -> FailureKind:
    """The kind of failure that a tool's error output reports."""
    found = (kind for kind, signs in _COMPILED if signs.search(stderr))
    return next(found, FailureKind.OTHER)


class _NoZone(dt.tzinfo):
    """The zone of times where all are asked for as seconds since 1970: a local one is an error.

    Around a change of clocks a local time stands for two moments, and nothing says whose it is.
    """

    def utcoffset(self, _moment: dt.datetime | None) -> dt.timedelta:
        reason = (
            "Slurm's tools print local times although SLURM_TIME_FORMAT=%s asks for seconds: let "
            "slurm.prefix pass this variable on, or name the cluster's zone in slurm.timezone"
        )
        raise SlurmError(reason, FailureKind.OTHER)

    dst = utcoffset

    def tzname(self, _moment: dt.datetime | None) -> str:
        return "unknown"


class SlurmClient:
    """Slurm's tools as functions. One thread at a time.

    All raise `SlurmError` where the tool gives no answer; `show` and `script` also where the
    controller does not know the job (any more), or does not give its script to this user.

    Args:
        settings: where the tools are, and their limits.
        kept: a private folder in which configuration, nodes, partitions and the list of sacct's
            columns are kept for an hour; None: they are asked for each time.

    Attributes:
        calls: how often each command was run.
        seconds: how long they took in all, by command.
        refused: lines and values of their output that could not be read; `last_refused` says why
            the last one was.
    """

    def __init__(self, settings: SlurmSettings, *, kept: Path | None = None) -> None:
        self.calls: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.refused = 0
        self.last_refused: str | None = None
        self._settings = settings
        self._kept = kept
        self._zone = zone_named(settings.timezone) if settings.timezone else _NoZone()
        self._delimiter = f"\x1f{secrets.token_hex(8)}\x1f"
        self._columns: tuple[str, ...] | None = None

    # --- what can be asked ---

    def queue(self, jobs: Collection[str] | None = None, *, each: bool = False) -> list[Queued]:
        """The queue in one call: all jobs, ended ones too as long as the controller knows them.

        Args:
            jobs: only these (``123`` is all of an array); None: all.
            each: give each pending task of an array a line; else one is given for all of them,
                also where their records differ.
        """
        asked = [f"--jobs={','.join(sorted(jobs))}"] if jobs is not None else []
        asked += ["--array"] if each else []
        try:
            options = ("--local", "--noheader", "--all", "--states=all", *asked)
            text = self.run("squeue", *options, f"--Format={format_option(self._delimiter)}")
        except SlurmError as error:
            if jobs is not None and error.kind is FailureKind.NO_JOB:
                return []
            raise
        return list(read_queue(text, self._delimiter, self._zone, self._refuse))

    def ended(self, since: int, until: int) -> list[Run]:
        """The runs that ended in a span (µs, the controller's clock), in one call of sacct."""
        return self._accounts(
            f"--starttime=uts{since // _MICROS}",
            f"--endtime=uts{-(-until // _MICROS)}",
            f"--state={ENDED_STATES}",
        )

    def accounts(self, jobs: Collection[str], since: int | None = None) -> list[Run]:
        """All runs of some jobs, in one call of sacct.

        Args:
            jobs: their ids.
            since: runs that ended before are left out: numbers are used again some day.
        """
        start = max((since or 0) // _MICROS, 1_000_000)
        return self._accounts(f"--jobs={','.join(sorted(jobs))}", f"--starttime=uts{start}")

    def show(self, job: str) -> list[Shown]:
        """What the controller knows of a job, of all tasks of an array, of all its components."""
        text = self.run("scontrol", "--local", "--oneliner", "show", "job", job)
        return list(read_jobs(text, job.partition("_")[0].partition("+")[0], self._zone))

    def script(self, job: str) -> str:
        """The batch script of a job that the controller still knows."""
        return self.run("scontrol", "write", "batch_script", job, "-")

    def kept_script(self, job: str) -> str | None:
        """The batch script as the accounting kept it; None where it did not."""
        since = "--starttime=uts1000000"
        text = self.run("sacct", "--local", f"--jobs={job}", "--batch-script", since)
        return batchscript.from_sacct(text)

    def config(self) -> Config:
        """The controller's configuration and clock."""
        text, age = self._lasting("scontrol", "show", "config")
        config = read_config(text, self._zone)
        return replace(config, now=None if config.now is None else config.now + age)

    def has(self, tool: str) -> bool:
        """Whether a tool is where the settings say; behind a prefix, it is supposed to be."""
        return find_tool(tool, self._settings.bin, self._settings.prefix) is not None

    def machine(self) -> tuple[list[Node], list[Partition]]:
        """The nodes and the partitions, in three calls."""
        nodes, _ = self._lasting("scontrol", "--local", "--oneliner", "show", "node")
        partitions, _ = self._lasting("scontrol", "--local", "--oneliner", "show", "partition")
        config, _ = self._lasting("scontrol", "show", "config")
        return list(read_nodes(nodes)), list(read_partitions(partitions, config))

    def cluster_name(self) -> str:
        """The cluster's name in ids of jobs: as set, else as the controller says.

        Slurm writes it in lower case everywhere but in slurm.conf (in accounts, in jobcomp's
        messages), so it is lowered here: else one cluster would be two.

        Raises:
            SlurmError: it is not set, and the controller does not say.
        """
        name, reason, kind = self._settings.cluster, "no ClusterName", FailureKind.OTHER
        if name is None:
            try:
                name = self.config().cluster
            except SlurmError as error:
                reason, kind = str(error), error.kind
        if not name:
            raise SlurmError(f"the cluster's name is unknown ({reason}); set slurm.cluster", kind)
        return name.lower()

    # --- how ---

    def _accounts(self, *options: str) -> list[Run]:
        columns = self._columns
        if columns is None:  # those we want that this version of sacct has
            known = {name.lower() for name in self._lasting("sacct", "--helpformat")[0].split()}
            columns = tuple(name for name in COLUMNS if name.lower() in known)
            if "JobID" not in columns:
                raise SlurmError("sacct --helpformat lists no column JobID", FailureKind.OTHER)
        self._columns = None  # after an error, such as a field that is lacking, they are found anew
        plain = ["--local", "--duplicates", "--parsable", "--noconvert"]
        plain += ["--allusers"] if self._settings.all_users else []
        form = (f"--delimiter={self._delimiter}", f"--format={','.join(columns)}")
        text = self.run("sacct", *plain, *form, *options)
        self._columns = columns
        try:
            return list(
                join_runs(exact_rows(text, self._delimiter), self._zone, self._refuse, self._refuse)
            )
        except ValueError as error:
            raise SlurmError(f"sacct: {error}", FailureKind.OTHER) from None

    def _lasting(self, tool: str, *arguments: str) -> tuple[str, int]:
        """What a tool prints, or printed within the last hour; and how long ago that was, µs."""
        if self._kept is None:
            return self.run(tool, *arguments), 0
        words = json.dumps([tool, *arguments, str(self._settings.conf), str(self._settings.bin)])
        file = self._kept / f"{tool}-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
        with contextlib.suppress(OSError):
            age = time.time_ns() - file.stat().st_mtime_ns
            if 0 <= age < _KEPT_NS:
                return file.read_text("utf-8"), age // 1000
        text = self.run(tool, *arguments)
        with contextlib.suppress(OSError, OutputError), new_file(file) as place:
            place.write_text(text, "utf-8")
        return text, 0

    def run(self, tool: str, *arguments: str) -> str:
        """Run any tool, also one that changes something, such as sbatch; what it printed.

        Raises:
            SlurmError: it refused, or gave no answer in time (it may have acted then).
        """
        settings = self._settings
        found = find_tool(tool, settings.bin, settings.prefix)
        if found is None:
            where = "on the PATH" if settings.bin is None else f"in {settings.bin}"
            reason = f"{tool} is not {where}; name its folder in the setting slurm.bin"
            raise SlurmError(reason, FailureKind.MISSING)
        words = [*settings.prefix, found, *arguments]
        self.calls[tool] += 1
        try:
            ended = run_command(
                words,
                env=self._environment(),
                timeout=settings.timeout,
                most_output=settings.output_most_mb << 20,
            )
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            kind = FailureKind.NO_PERMISSION if error.errno in (1, 13) else FailureKind.MISSING
            raise SlurmError(f"cannot run {words[0]}: {reason}", kind) from None
        self.seconds[tool] += ended.seconds
        if failure := self._failure(tool, ended):
            raise SlurmError(*failure)
        return ended.stdout.decode("utf-8", "replace").replace("\0", "\ufffd")

    def _failure(self, tool: str, ended: Ended) -> tuple[str, FailureKind] | None:
        """Why the tool gave no answer, and the kind of failure; None: it gave one."""
        limit, most = self._settings.timeout, self._settings.output_most_mb
        if ended.overflow:
            reason = f"{tool} printed more than {most} MB (setting slurm.output_most_mb)"
            return reason, FailureKind.TOO_MUCH
        if ended.status is None:
            reason = f"{tool} gave no answer within {limit:g} s (setting slurm.timeout)"
            return reason, FailureKind.SLOW
        if ended.status < 0:
            return f"{tool} was ended by signal {-ended.status}", FailureKind.OTHER
        if ended.status == 0 and (ended.stdout or _UNWRITTEN not in ended.stderr):
            return None
        # To 25.11, scontrol reports a missing task on standard output.
        said = (ended.stderr or ended.stdout[:_MOST_SHOWN]).decode("utf-8", "replace")
        missing = ended.status == 127 and not ended.stdout
        kind = FailureKind.MISSING if missing else classify(said)
        return f"{tool}: {printable(said, 200) or 'failed'}", kind

    def _environment(self) -> dict[str, str]:
        """Ours without what would change the tools' output (SQUEUE_FORMAT and its like)."""
        kept = {
            name: value
            for name, value in child_environment().items()
            if name in _KEPT_ENVIRONMENT or not name.startswith(_DROPPED_ENVIRONMENT)
        }
        if self._settings.conf is not None:
            kept["SLURM_CONF"] = str(self._settings.conf)
        return {**kept, "SLURM_TIME_FORMAT": "%s", "SLURM_BITSTR_LEN": "0"}

    def _refuse(self, error: ValueError) -> None:
        self.refused += 1
        self.last_refused = printable(error, 200)
