"""JS5xx: what `jobsight check` finds from history, in the counts of runs like the job checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jobsight.clock import format_span
from jobsight.documents import State
from jobsight.program.preflight.condorjob import CondorJob
from jobsight.program.preflight.files import uses_of
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.submission.job import Place
from jobsight.program.submission.proposals import Ceilings
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.history.causes.cause import Cause
    from jobsight.program.shell.model import Source
    from jobsight.questions.fail.evidence import Counted

__all__ = ["Known", "Named", "Used", "named_files", "places_of"]

ENOUGH = 5
"""Runs from which something is found."""
_MOSTLY = 0.8
"""Share of failures from which a file is suspected."""
_FACTOR = 4
_SPARE_MB, _SPARE_S = 4096, 3600
"""Far too much is `_FACTOR` times the largest use, and this much above it."""
_MOST_FILES = 100
_SYSTEM = ("/usr/", "/bin/", "/etc/", "/dev/", "/proc/", "/lib")
_DONE = State.COMPLETED.value
_MEMORY, _TIMEOUT = State.OUT_OF_MEMORY.value, State.TIMEOUT.value


class Named(NamedTuple):
    """A file that a job runs (``program``) or reads (``input``), and where it is named."""

    kind: str
    path: str
    place: Place
    source: Source | None = None


class Used(NamedTuple):
    """The last runs that named a file, and how many of them failed by themselves."""

    file: Named
    runs: int
    failed: int


@dataclass(frozen=True)
class Known:
    """What history knows of a job.

    Attributes:
        job: its row of the job table.
        places: where its requests are, by column.
        like: runs of the same user's jobs with the same name or script; None: there are none.
        used: its files, as far as earlier runs named them.
        most: gives the most that it may ask for.
    """

    job: Mapping[str, Any]
    places: Mapping[str, Place]
    like: Counted | None
    used: tuple[Used, ...] = ()
    most: Callable[[], Ceilings] = Ceilings

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The last runs like it."""
        return [] if self.like is None else self.like.runs

    @property
    def name(self) -> str:
        """Its name, to be shown."""
        return printable(self.job["name"] or "this script", 60)

    def too_little(self, column: str, state: str, used: str) -> tuple[int, int, int] | None:
        """Runs that show whether a request suffices; of them, how many ended so, or used more.

        A run that had less and ended so shows nothing. None: it suffices, or too few show it.
        """
        asked = self.job[column]
        if asked is None or asked <= 0:
            return None
        ended = over = fit = 0
        for run in self.runs:
            if run["state"] == state and (run[column] or 0) >= asked:
                ended += 1
            elif run["state"] != state and (run[used] or 0) > asked:
                over += 1
            elif run["state"] == _DONE:
                fit += 1
        shown = ended + over + fit
        return (shown, ended, over) if shown >= ENOUGH and ended + over >= shown / 2 else None

    def too_much(self, column: str, state: str, used: str, spare: int) -> tuple[int, float] | None:
        """Completed runs with known use, and the largest, where far more is asked for."""
        asked = self.job[column]
        peaks = [run[used] for run in self.runs if run["state"] == _DONE and run[used]]
        if asked is None or len(peaks) < ENOUGH or any(run["state"] == state for run in self.runs):
            return None
        largest = max(run[used] or 0 for run in self.runs)
        far = asked >= _FACTOR * largest and asked - largest >= spare
        return (len(peaks), largest) if far else None

    def advised(self, state: str) -> str | None:
        """What to change so that it does not end so."""
        from jobsight.questions.fail.evidence import advise

        advice = advise(self.job, self.like, 1.0, {state: 1.0}, self.most)
        return None if advice is None else advice.option or advice.text

    @cached_property
    def failed_in_a_row(self) -> list[Cause]:
        """Why the last runs failed by themselves, one after the other, the latest first."""
        from jobsight.questions.fail.evidence import failures_in_a_row

        return failures_in_a_row(self.runs)

    def hit(self, column: str, message: str, fix: str | None = None) -> Hit:
        """A hit where a request is."""
        return hit(self.places.get(column, Place(1)), message, fix)


_FILES = """bash align.sh reads.txt
=== align.sh
echo ok
=== reads.txt
ACGT
=== sacct.psv
JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|ReqMem|Timelimit|MaxRSS|Cluster|SubmitLine
"""


def _example(
    memory: str = "4G", limit: str = "1:00:00", state: str = "COMPLETED", code: str = "0:0",
    used: str = "3000M", name: str = "align", line: str = "sbatch job.sh",
) -> str:  # fmt: skip
    """A script of ann's, and six runs of hers as ``sacct --parsable2`` prints them."""
    rows = "".join(
        f"{n}|{name}|ann|{state}|{code}|2026-03-02T0{n}:00:00|2026-03-02T0{n}:00:00|"
        f"2026-03-02T0{n}:50:00|4G|01:00:00||grid|{line}\n"
        f"{n}.batch|batch||{state}|{code}||2026-03-02T0{n}:00:00|2026-03-02T0{n}:50:00|||{used}|grid|\n"
        for n in range(1, 7)
    )
    head = f"#!/bin/bash\n#SBATCH --job-name=align --mem={memory} --time={limit}\n"
    return head + _FILES + rows


_rule = partial(rule, passes=_example(), severity="warning", kind="history")


def _amount(known: Known, column: str) -> str:
    """What is asked for, in words."""
    value = known.job[column]
    return format_span(value) if column == "time_limit_s" else f"{value:,} MB"


def _too_little(
    known: Known, column: str, state: str, used: str, *, little: str, ending: str, more: str
) -> Iterator[Hit]:
    """A request that half of the runs that show it went beyond, and what to ask for."""
    counts = known.too_little(column, state, used)
    if counts is not None:
        shown, ended, over = counts
        parts = " and ".join(f"{n} {words}" for n, words in ((ended, ending), (over, more)) if n)
        text = (
            f"{_amount(known, column)} are likely too {little}: of the last "
            f"{counted(shown, 'run')} of {known.name}, {parts}"
        )
        yield known.hit(column, text, known.advised(state))


def _too_much(known: Known, column: str, state: str, used: str, spare: int) -> Iterator[Hit]:
    """A request that is far more than any of the last runs used."""
    counts = known.too_much(column, state, used, spare)
    if counts is not None:
        runs, most = counts
        of_time = column == "time_limit_s"
        largest = f"took {format_span(most)}" if of_time else f"used {most:,.0f} MB"
        text = (
            f"{_amount(known, column)} are asked for: the {'longest' if of_time else 'largest'} of "
            f"the last {counted(runs, 'run')} of {known.name} {largest}"
        )
        yield known.hit(column, text, "ask for less")


@_rule(
    "JS501 Jobs like it ran out of as much memory",
    fails=_example(state="OUT_OF_MEMORY", code="0:125"),
)
def _little_memory(known: Known) -> Iterator[Hit]:
    """At least half of the last runs that show it needed more: it will likely run out of memory."""
    yield from _too_little(
        known, "request_memory_mb", _MEMORY, "max_rss_mb",
        little="little", ending="ran out of as much memory", more="used more",
    )  # fmt: skip


@_rule(
    "JS502 Jobs like it reached as long a time limit",
    fails=_example(limit="0:30:00"),
)
def _little_time(known: Known) -> Iterator[Hit]:
    """At least half of the last runs that show it took longer: it will likely time out."""
    yield from _too_little(
        known, "time_limit_s", _TIMEOUT, "ran",
        little="short", ending="reached as long a limit", more="took longer",
    )  # fmt: skip


@_rule(
    "JS503 Far more memory than jobs like it used",
    fails=_example("64G"),
)
def _much_memory(known: Known) -> Iterator[Hit]:
    """Four times the largest use of the last runs, or more: the job waits longer for it."""
    yield from _too_much(known, "request_memory_mb", _MEMORY, "max_rss_mb", _SPARE_MB)


@_rule(
    "JS504 Far more time than jobs like it took",
    fails=_example(limit="2-00:00:00"),
)
def _much_time(known: Known) -> Iterator[Hit]:
    """Four times the longest of the last runs, or more: a shorter job starts earlier."""
    yield from _too_much(known, "time_limit_s", _TIMEOUT, "ran", _SPARE_S)


@_rule(
    "JS505 The last runs of the script all failed",
    fails=_example(state="FAILED", code="2:0"),
)
def _failing_script(known: Known) -> Iterator[Hit]:
    """Five or more, one after the other, by themselves: not for want of memory, time or a node."""
    if len(causes := known.failed_in_a_row) >= ENOUGH:
        text = f"the last {counted(len(causes), 'run')} of {known.name} failed"
        same = len({cause.name for cause in causes}) == 1
        yield known.hit("", f"{text}: {causes[0].text}" if same else text, causes[0].fix)


def _suspects(known: Known, kind: str) -> Iterator[Hit]:
    """Files whose runs mostly failed; none where the script itself is known to fail."""
    if len(known.failed_in_a_row) >= ENOUGH:
        return
    for of in known.used:
        if of.file.kind == kind and of.runs >= ENOUGH and of.failed >= _MOSTLY * of.runs:
            shown = printable(os.path.relpath(of.file.path), 80)
            text = f"of the last {counted(of.runs, 'run')} with {shown}, {of.failed} failed"
            yield hit(of.file, text)


_RUN_ELSEWHERE = {"state": "FAILED", "code": "2:0", "name": "sweep"}


@_rule(
    "JS506 Runs with a program of the job mostly failed",
    fails=_example(line="sbatch --wrap ./align.sh", **_RUN_ELSEWHERE),
    passes=_example(line="sbatch --wrap ./count.sh", **_RUN_ELSEWHERE),
)
def _failing_program(known: Known) -> Iterator[Hit]:
    """Four of five of its last runs, or more, in whatever script of the same user."""
    yield from _suspects(known, "program")


@_rule(
    "JS507 Runs with an input of the job mostly failed",
    fails=_example(line="sbatch count.sh reads.txt", **_RUN_ELSEWHERE),
    passes=_example(line="sbatch count.sh other.txt", **_RUN_ELSEWHERE),
)
def _failing_input(known: Known) -> Iterator[Hit]:
    """Four of five of the last runs that named it, or more."""
    yield from _suspects(known, "input")


def places_of(job: Job | CondorJob) -> dict[str, Place]:
    """Where memory and time are asked for, by the columns of the job table."""
    settings = job.submission.settings
    names = {
        "request_memory_mb": ("mem", "mem-per-cpu", "mem-per-gpu", "request_memory"),
        "time_limit_s": ("time",),
    }
    asked = {
        column: next((settings[name] for name in some if name in settings), None)
        for column, some in names.items()
    }
    return {column: of.place for column, of in asked.items() if of and of.origin == "script"}


def named_files(job: Job | CondorJob) -> list[Named]:
    """The programs and inputs of a job that are files here, each once, programs first."""
    named = _of_submit(job) if isinstance(job, CondorJob) else _of_script(job)
    files: dict[str, Named] = {}
    for of in sorted(named, key=lambda of: of.kind, reverse=True):
        if os.path.isfile(of.path) and not of.path.startswith(_SYSTEM):  # noqa: PTH113
            files.setdefault(of.path, of)
    return list(files.values())[:_MOST_FILES]


def _of_script(job: Job) -> Iterator[Named]:
    for program in job.walk.programs:
        if program.path is not None and program.path != job.path and program.word is not None:
            yield Named("program", program.path, program.word.place, program.command.source)
    for command in job.commands:
        read = [use.word for use in uses_of(command) if use.kind == "read"]
        for kind, words in (("program", command.words[:1]), ("input", (*command.arguments, *read))):
            for word in words:
                if word.value and (kind == "input" or "/" in word.value):
                    path = os.path.join(command.folder or job.folder, word.value)  # noqa: PTH118
                    yield Named(kind, os.path.normpath(path), word.place, command.source)


def _of_submit(job: CondorJob) -> Iterator[Named]:
    for instance in job.instances:
        executable = instance.known("executable")
        if executable:
            path = job.place_of(executable, job.folder)
            yield Named("program", path, instance.setting("executable").place)
        for _, path in job.found(instance):
            yield Named("input", path, instance.setting("transfer_input_files").place)
