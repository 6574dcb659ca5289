"""One file checked: what it is, the rules that apply, the findings left when comments had a say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.program.limited import LimitError, limited
from jobsight.program.machine import Elsewhere, Machine, read_source
from jobsight.program.preflight.condorfiles import NOT_TRANSFERRED
from jobsight.program.preflight.condorjob import CondorJob, Instance
from jobsight.program.preflight.dags import DagJob
from jobsight.program.preflight.findings import Finding, Hit, hit, hits_of, rule, silenced
from jobsight.program.preflight.habits import secret_in
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.logic import NOT_A_JOB
from jobsight.program.preflight.reports import Report
from jobsight.program.preflight.shellcheck import shellcheck_findings, shellcheck_of
from jobsight.program.preflight.syntax import TEMPLATE
from jobsight.program.shell.model import Source
from jobsight.program.site import Site
from jobsight.program.submission.condor import looks_like_submit, surely_submit
from jobsight.program.submission.dag import looks_like_dag
from jobsight.program.submission.templates import ENDINGS, placeholder_line
from jobsight.text import printable, wordlist

__all__ = ["Checker"]

_DAGS = frozenset({".dag"})
_SUBMITS = frozenset({".sub", ".submit", ".condor", ".jdl", ".jds", ".cmd"})
_UNNAMED = frozenset({"", ".txt", ".job", ".desc", ".in"})
_LONGEST = 256 << 10
"""Characters of a script that ShellCheck is given."""
_MOST = 1000
"""Findings of a report."""
_READS = frozenset({"JS101", "JS102", "JS109", "JS112"})
_ARGUMENTS = frozenset({"JS335", "JS336"})
_FAILS = frozenset({"JS313", "JS319"})

_OF_CONTAINERS = frozenset({"JS008", "JS103", "JS107", "JS111"})
"""Rules that look at programs and packages, which a container brings along."""
_OF_FILES = frozenset({"JS008", "JS103", "JS105", "JS401", "JS403", "JS413", "JS420", "JS424"})
"""Rules that look at the files of a machine: not for a text sent from elsewhere."""

_RULES = wordlist(
    "arguments arrays compiled condor condorfiles dags gpus habits limits logic missing otherfiles "
    "othernames packages pythoncalls pythondata pythonfiles pythonlogic requests shelltraps syntax "
    "tools variables"
)
"""The modules whose import registers the rules."""
for _module in _RULES:
    import_module(f"jobsight.program.preflight.{_module}")


@rule(
    "JS012 The check was stopped: the script takes too much time or memory",
    severity="warning",
    kind="limit",
)
def _stopped(limit: LimitError) -> Iterator[Hit]:
    """More than 10 s of CPU time, 60 s or 768 MiB: what was found until then is shown."""
    yield hit(1, f"the check was stopped after {limit}; what is not shown was not checked")


@dataclass(frozen=True)
class Checker:
    """Checks files.

    Attributes:
        site: what is known of the cluster.
        ignored: codes, or their beginnings.
        options: of sbatch.
        shellcheck: add what ShellCheck finds, where it is installed.
        history: finds what earlier runs show of a job whose file is shown so.
    """

    site: Site | None = None
    ignored: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    shellcheck: bool = True
    history: Callable[[Job | CondorJob, str], Iterable[Finding]] = lambda _job, _file: ()

    def check(self, name: str) -> Report:
        """Check a file.

        Raises:
            SourceError: it cannot be read, or is not text.
        """
        path = Path(name)
        data = read_source(path)
        text = data.decode("utf-8", "replace")
        file = printable(os.path.relpath(path))
        absolute = os.path.abspath(path)  # noqa: PTH100  # links are left as they are
        machine = Machine(None, (os.getcwd(), os.path.dirname(absolute)))  # noqa: PTH109, PTH120
        return self._report(path, file, data, text, machine)

    def sent(self, name: str, text: str) -> Report:
        """Check a text that was sent from another machine: no file of this one is looked at.

        Raises:
            SourceError: it has a zero byte, or is nested too deep.
        """
        if "\0" in text:
            raise SourceError(f"this is not text: it has a zero byte at {text.index(chr(0))}")
        file = Path(name).name or "script"
        data = text.encode(errors="replace")
        found = self._report(Path("/", file), printable(file, 120), data, text, Elsewhere())
        known = (one for one in found.findings if one.code not in _OF_FILES)
        return replace(found, findings=tuple(known))

    def _report(self, path: Path, file: str, data: bytes, text: str, machine: Machine) -> Report:
        found: list[Finding] = []
        scheduler = None
        try:
            with limited():
                scheduler = self._find(path, file, data, text, machine, found)
        except RecursionError:
            raise SourceError(f"{file} is nested too deep to be checked") from None
        except LimitError as limit:
            found += hits_of("limit", limit, file)
        ends = not any(one.code in NOT_A_JOB for one in found)
        return Report(file, scheduler, ends, tuple(islice(self._left(found, file, text), _MOST)))

    def _find(
        self, path: Path, file: str, data: bytes, text: str, machine: Machine, found: list[Finding]
    ) -> str | None:
        """Add what is found, one by one: `found` has the first where a limit stops the rest."""
        absolute = os.path.abspath(path)  # noqa: PTH100
        if path.suffix in ENDINGS and path.stem.rpartition(".")[1]:
            path = path.with_suffix("")
        if path.suffix in _DAGS or (path.suffix in _UNNAMED and looks_like_dag(text)):
            found.extend(self._of_dag(DagJob(text, os.getcwd(), machine), file))  # noqa: PTH109
            return "htcondor"
        submit = path.suffix in _SUBMITS or (path.suffix in _UNNAMED and looks_like_submit(text))
        if submit or (path.suffix == ".sh" and surely_submit(text) and "<<" not in text):
            job = CondorJob(text, absolute, os.getcwd(), machine, self.site)  # noqa: PTH109
            found.extend(self._of_submit(job, file))
            found.extend(self.history(job, file))
            return "htcondor"
        script = self._script(file, absolute, data, text, machine)
        found.extend(self._of_script(script, file))
        found.extend(self.history(script, file))
        return "slurm" if script.is_slurm else None

    def _of_script(self, script: Job, file: str) -> Iterator[Finding]:
        """The findings of the rules, and those of ShellCheck on other lines."""
        if template := list(hits_of("script", script, file, "JS011")):
            yield from template
            return
        asked = self.shellcheck and script.language == "bash" and len(script.text) < _LONGEST
        with shellcheck_of(script.text) if asked else nullcontext() as process:
            lines: set[int] = set()
            for one in hits_of("script", script, file):
                lines.add(one.line)
                yield one
            if process is not None:
                others = shellcheck_findings(process, script, file)
                yield from (one for one in others if one.line not in lines)

    def _script(self, file: str, path: str, data: bytes, text: str, machine: Machine) -> Job:
        """A script, in the folder where it will start."""
        here = os.getcwd()  # noqa: PTH109
        source = Source(file, text, folder=os.path.dirname(path))  # noqa: PTH120
        job = Job(source, data, path, here, machine, self.site, self.options)
        job.blind = isinstance(machine, Elsewhere)
        if job.is_slurm and (chosen := job.submission.value("chdir")):
            job.folder = machine.resolve(os.path.normpath(os.path.join(here, chosen)))  # noqa: PTH118
        return job

    def _of_dag(self, job: DagJob, file: str) -> Iterator[Finding]:
        if template := _template(job.text, file):
            yield template
            return
        yield from hits_of("dag", job, file)
        forgiven = {node for node, *_ in job.dag.scripts}
        for node, path in job.submit_files():
            text = job.machine.text(path)
            if text is not None:
                folder = os.path.normpath(os.path.join(job.folder, node.folder))  # noqa: PTH118
                one = CondorJob(text, path, folder, job.machine, self.site, in_dag=True)
                users = job.users[node.file]
                one.forgiven = any(name in forgiven for name in users)
                one.fed = job.made_for(users)
                yield from self._of_submit(one, os.path.relpath(path))
        for inner, path in job.inner():
            yield from self._of_dag(inner, os.path.relpath(path))

    def _of_submit(self, job: CondorJob, file: str) -> Iterator[Finding]:
        """Its own findings, and those of the scripts that it runs where they will run."""
        if template := _template(job.text, file):
            yield template
            return
        yield from hits_of("condor", job, file)
        for number, line in enumerate(job.text.split("\n"), 1):
            if (found := secret_in(line)) is not None:
                message = f"{found[0]} in plain text"
                yield Finding(file, number, found[1] + 1, "error", "JS311", message)
        seen: set[str] = set()
        for one in job.instances:
            script = job.script(one)
            if script is not None and script.path not in seen:
                seen.add(script.path)
                yield from self._of_executable(job, one, script, file)

    def _of_executable(
        self, job: CondorJob, one: Instance, script: Job, file: str
    ) -> Iterator[Finding]:
        shown = script.source.file
        for found in self._of_script(script, shown):
            if not found.file:  # of the call of an interpreter
                place = one.setting("arguments").place
                found = found._replace(file=file, line=place.line, column=place.column)  # noqa: PLW2901
            listed = found.message.partition(" ")[0] in map(os.path.basename, job.inputs(one) or ())
            if (found.code in _FAILS and job.forgiven) or (found.code in _READS and listed):
                continue  # JS403 says it
            module = f"{os.path.dirname(found.file)}/{found.message.rpartition(' ')[2]}"  # noqa: PTH120
            paths = [os.path.abspath(f"./{module}{end}") for end in (".py", "/__init__.py")]  # noqa: PTH100
            lost = found.code == "JS107" and any(map(job.machine.exists, paths))
            if found.code in _OF_CONTAINERS and job.contained(one) and not lost:
                continue
            if (found.code in _READS or lost) and not script.blind and job.transfers(one):
                place = one.setting("transfer_input_files", "executable").place
                code, message = NOT_TRANSFERRED, f"{found.message}: not transferred"
                yield found._replace(code=code, message=message)
                yield Finding(file, *place, "error", code, f"{shown} line {found.line}: {message}")
            elif found.code in _ARGUMENTS or "argument" in found.message[:27]:
                place = one.setting("arguments", "executable").place
                yield found._replace(file=file, line=place.line, column=place.column)
                if len(one.own) > 1 and re.search(r"\s", list(one.own.values())[-1]):
                    last, value = list(one.own.items())[-1]
                    message = f"{found.message}: $({last}) is {value!r}, all that is left of a line"
                    line, column = one.queue.place
                    yield found._replace(file=file, line=line, column=column, message=message)
            else:
                yield found
            if found.code == "JS210":
                place = one.setting("request_memory").place
                yield found._replace(file=file, line=place.line, column=place.column)
            if found.code in _FAILS and "max_retries" in one.queue.commands:
                place = one.setting("max_retries").place
                text_ = f"{shown} line {found.line} always fails: no retry succeeds"
                yield Finding(file, *place, "error", "JS408", text_)

    def _left(self, found: Sequence[Finding], file: str, text: str) -> Iterator[Finding]:
        quiet = {file: silenced(text)}
        seen: set[tuple[str, int, str]] = set()
        for one in sorted(found, key=lambda f: (f.file != file, f.file, f.line, f.column, f.code)):
            if one.file not in quiet:
                quiet[one.file] = _silenced_in(one.file)
            codes = quiet[one.file].get(one.line, frozenset())
            key = (one.file, one.line, one.code)
            if key in seen or codes is None or one.code in codes:
                continue
            if any(re.match(re.escape(code), one.code) for code in self.ignored):
                continue
            seen.add(key)
            fix = None if one.fix is None else printable(one.fix, 160)
            yield one._replace(message=printable(one.message, 240), fix=fix)


def _template(text: str, file: str) -> Finding | None:
    """What is said of a submit file or a DAG that is a template; None: it is none."""
    line = placeholder_line(enumerate(text.split("\n"), 1), file, script=False)
    return None if line is None else Finding(file, line, 1, "warning", "JS011", TEMPLATE)


def _silenced_in(file: str) -> dict[int, frozenset[str] | None]:
    try:
        return silenced(read_source(Path(file)).decode("utf-8", "replace"))
    except SourceError:
        return {}
