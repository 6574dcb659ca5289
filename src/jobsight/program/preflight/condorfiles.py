"""JS401–JS403, JS406, JS412, JS413: files of jobs of HTCondor."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from jobsight.program.preflight.condorjob import CondorJob, Instance
from jobsight.program.preflight.files import HARMLESS, Trace, near, trace_of, uses_of
from jobsight.program.preflight.findings import Hit, hit, reported, rule
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText
from jobsight.program.shell.model import Source
from jobsight.program.submission.condor import split_arguments
from jobsight.program.submission.job import Place, Setting

__all__ = ["NOT_TRANSFERRED", "written_by"]

NOT_TRANSFERRED = "JS412"
_RUN = frozenset({"executable", "shell", "docker_image", "container_image", "noop_job"})
"""Commands of which one says what a job runs."""


_CAT = "executable = /bin/cat\nshould_transfer_files = YES\narguments = in.dat\n"


def _absent(path: str, job: CondorJob) -> bool:
    if job.machine.exists(path):
        return False
    return path.startswith(f"{job.folder}/") or job.machine.visible(path)


@rule("JS401 The executable is not there", kind="condor")
def _executables(job: CondorJob) -> Iterator[Hit]:
    """It is named relative to the folder of the submission, and transferred by default."""
    for one in job.instances:
        name = one.known("executable")
        in_image = job.contained(one) and (name or "").startswith("/")
        if not name or in_image or one.yes("transfer_executable") is False:
            continue
        path = job.place_of(name, job.folder)
        setting = one.setting("executable")
        if _absent(path, job):
            yield hit(setting, f"{name} is not there: condor_submit refuses it", near(path))
        elif job.machine.is_folder(path):
            yield hit(setting, f"{name} is a folder")
    for queue in job.submission.queues:
        if _RUN.isdisjoint(queue.commands):
            message = "no executable is given: it is only for condor_submit -interactive"
            yield hit(queue, message, "executable = PROGRAM", severity="warning")


@rule("JS402 The executable may not be executed", kind="condor")
def _executable_bits(job: CondorJob) -> Iterator[Hit]:
    """Without its bit it cannot be started; where it is transferred, HTCondor may set it."""
    for one in job.instances:
        name = one.known("executable")
        if not name or (job.contained(one) and name.startswith("/")):
            continue
        path = job.place_of(name, job.folder)
        there = job.machine.exists(path) and not job.machine.is_folder(path)
        if there and not job.machine.may(path, 1):
            sure = one.yes("transfer_executable") is False or not job.transfers(one)
            yield hit(one.setting("executable"), f"{name} may not be executed",
                      f"chmod +x {name}", severity=None if sure else "warning")  # fmt: skip


@rule("JS403 A file to be transferred is not there", kind="condor")
def _inputs(job: CondorJob) -> Iterator[Hit]:
    """The job is held when it starts."""
    made = job.fed if isinstance(job.fed, frozenset) else frozenset[str]()
    forms = [one.replace("{}", "*") for one in made]
    for one in job.instances if job.fed is not True else ():
        for name, path in job.found(one):
            own = (name, name.partition("/")[0])
            fed = any(fnmatchcase(one, form) for form in forms for one in own)
            if not fed and _absent(path.rstrip("/"), job):
                place, source = _item_place(one, name, one.setting("transfer_input_files"), job)
                message = f"{name} is not there: the job is held"
                yield hit(place, message, near(path), source=source)
        folder = job.start(one)
        for key in ("input", "container_image") if folder is not None else ():
            name = one.known(key) or ""
            plain = name and "://" not in name and not name.startswith("/dev/")
            if plain and _absent(job.place_of(name, folder or ""), job):
                place, source = _item_place(one, name, one.setting(key), job)
                yield hit(place, f"{name} is not there: the job is held", source=source)
    for queue in job.submission.queues:
        if job.matched(queue) == []:
            yield hit(queue, f"nothing matches {queue.file}: no job is queued")
    yield from reported(job.submission.problems, "missing")


def _item_place(
    one: Instance, name: str, setting: Setting, job: CondorJob
) -> tuple[Place, Source | None]:
    """That of the item where the name comes from it, and the file of the list."""
    for place, line in one.queue.items or () if name not in setting.value else ():
        if any(value in name and value in line for value in one.own.values()):
            return place, job.listed_in(one.queue)
    return setting.place, None


_APART = re.compile(
    r"\$\((?:Process|ProcId|Proc|Step|Row|ItemIndex|Node|Cluster(?:Id)?\.\$)"
    r"|\$\$\(|\$(?:CHOICE|RANDOM|INT|REAL|STRING|EVAL)", re.I,
)  # fmt: skip
"""What differs between the jobs of a queue statement."""


_ONE_NAME = (r"\"?\w[^/]*\.\w+\"?", r"\"?[^=;]+=[^=;]*\.\w+\"?")
"""A file that is transferred back; one that is stored under another name."""


@rule("JS406 Several jobs write to one file", kind="condor")
def _shared_outputs(job: CondorJob) -> Iterator[Hit]:
    """Files of output and error have the same name for all jobs of a queue statement."""
    for queue in job.submission.queues:
        if queue.jobs is None and not (queue.file and queue.count):
            continue
        if queue.jobs is not None and queue.jobs < 2:
            continue
        items = len(queue.items or ()) > 1 or queue.file is not None
        one = Instance(queue, {})
        apart = _APART.search(one.value("output_destination") or "")
        folder = one.setting("initialdir", "initial_dir").value
        moved = "transfer_output_remaps" in queue.commands
        back = ["transfer_output_remaps" if moved else "transfer_output_files"]
        for name in ("output", "error", *back):
            if name not in queue.commands:
                continue
            value = one.value(name) or ""
            named = "|".join(map(re.escape, queue.names)) or "(?!)"
            of_item = items and re.search(rf"\$\w*\((?:{named})\b", value, re.I)
            if name in back and (apart or not re.fullmatch(_ONE_NAME[moved], value)):
                continue
            if value.startswith("/dev/") or _APART.search(value):
                continue
            if of_item and (queue.count or 1) == 1:
                continue
            if "$(" in folder:
                continue
            many = f"{queue.jobs} jobs" if queue.jobs else "all jobs"
            fix = f"{name} = {_with_process(queue.commands[name].value)}"
            yield hit(queue.commands[name], f"{many} write their {name} to {value[:60]}", fix)


def _with_process(value: str) -> str:
    stem, dot, ending = value.rpartition(".")
    return f"{stem}.$(Process).{ending}" if dot else f"{value}.$(Process)"


@rule(f"{NOT_TRANSFERRED} A file that the job reads is not transferred", kind="condor")
def _not_transferred(job: CondorJob) -> Iterator[Hit]:
    """Files here that ``arguments`` name; where the executable reads them, `check` adds it."""
    for one in job.instances:
        listed = job.inputs(one)
        text = one.known("arguments")
        folder = job.start(one)
        if not job.transfers(one) or listed is None or folder is None:
            continue
        yield from _by_old_path(job, one, listed)
        if not text:
            continue
        inputs = (*listed, one.known("executable") or "", one.known("input") or "")
        there = {PurePosixPath(name).name for name in inputs}
        whole = any(name.endswith("/") for name in listed)
        words, _ = split_arguments(one.value("arguments") or "")
        for word in words:
            name = word.rpartition("=")[2] if word.startswith("-") else word
            path = job.place_of(name, folder)
            kept = whole or (name in listed and one.yes("preserve_relative_paths"))
            named = name not in ("", ".") and "$" not in name and not name.startswith(("/", "-"))
            if kept or not named or not job.machine.exists(path):
                continue
            if name.partition("/")[0] not in there and not job.machine.is_folder(path):
                if (last := PurePosixPath(name).name) in there:
                    if not _takes_last_part(job.script(one)):
                        yield hit(one.setting("arguments"), f"the job finds {name} as {last}", last)
                    continue
                setting = one.setting("transfer_input_files", "arguments")
                fix = f"transfer_input_files = {', '.join([*listed, name])[:100]}"
                yield hit(setting, f"{name} is named in arguments and not transferred", fix)


def _takes_last_part(script: Job | None) -> bool:
    """Whether a script may leave out the folders of the names that it is given."""
    text = f"{script.text}\n{script.program_texts}" if script is not None else ""
    return re.search(r"basename|##\*/|\.name\b|\bsplit\(", text) is not None


def _by_old_path(job: CondorJob, one: Instance, listed: list[str]) -> Iterator[Hit]:
    """Inputs that the script reads under an absolute path, which is not where it runs."""
    script = None if job.contained(one) else job.script(one)
    if script is None:
        return
    for name in listed:
        last = PurePosixPath(name).name
        form = (
            r"(?m)^(?![ \t]*#|.*\b(?:cp|mv|ln|rsync|tee)\b|.*>).*?(?<![\w/}.])"
            rf"(/(?:home|users?|afs|nfs|project\w*|data\d*|work|gpfs|lustre)/(?:[\w.-]+/)*{re.escape(last)})"
            r"(?![\w/.-])"
        )
        for found in re.finditer(form, script.text) if last else ():
            if not job.machine.exists(found[1]):
                message = f"{found[1]} is not where the job runs: it finds {last} in its folder"
                yield hit(found, message, last, source=script.source)


@rule("JS416 A file to be transferred back that the job does not write", kind="condor")
def _not_written(job: CondorJob) -> Iterator[Hit]:
    """Where all that the executable writes is known: the job is held when it ends."""
    for one in job.instances[:1]:
        listed, script = one.known("transfer_output_files"), job.script(one)
        if not listed or script is None or script.blind:
            continue
        if script.language not in ("bash", "python"):
            continue
        trace = Trace()
        for _, trace in trace_of(script):  # noqa: B007  # the state after the last command
            pass
        for name in re.split(r"\s*,\s*", listed.strip()):
            path = f"{script.folder}/{name.rstrip('/')}"
            inside = any(f.startswith(f"{path}/") for f in trace.made | trace.folders)
            if not (trace.may_be_there(path) or inside or script.machine.exists(path)):
                text = f"{script.source.file} does not write {name}: the job is held"
                yield hit(one.setting("transfer_output_files"), text)


@rule("JS417 Results in a folder that is not transferred back", kind="condor")
def _left_behind(job: CondorJob) -> Iterator[Hit]:
    """By default HTCondor transfers new files of the top folder alone, and no folders."""
    for one in job.instances[:1]:
        script = job.script(one) if job.transfers(one) else None
        if script is None or "transfer_output_files" in one.queue.commands:
            continue
        written = written_by(script)
        inside = [re.match(r"(?:\./)?([\w-][\w.-]*)/", name) for name in written or ()]
        if inside and all(inside):
            folder = inside[0][1] if inside[0] else ""
            message = f"{script.source.file} writes into {folder}/, which is not transferred back"
            place = one.setting("when_to_transfer_output", "should_transfer_files", "executable")
            shows = re.search(r"\b(?:print|printf|echo|cat|stdout)\b", script.text)  # in its output
            yield hit(place, message, f"transfer_output_files = {folder}",
                      severity="warning" if shows else None)  # fmt: skip


_WRITES_MORE = frozenset({"split", "csplit", "find", "xargs", "unzip", "eval"})
"""Commands that write files that are not among their words."""


def written_by(script: Job) -> list[str] | None:
    """The names of all files that a script writes; None: some are not known."""
    found: list[str] = []
    for program, text in script.pythons:
        plain = PythonText(re.sub(r"\b(?:makedirs|mkdir)\b", "exists", text.text))
        if plain.may_write or program.imported:
            return None
        found += [one.path for one in text.opened if set("wax+") & set(one.mode)]
    for command in script.commands if script.language == "bash" else ():
        ran = script.program_of.get(id(command))
        known = ran is not None and ran.language == "python" and ran.source is not None
        name = command.bare or "echo"
        writes = "awk" in name and any(">" in one.text for one in command.arguments)
        unsure = writes or name in _WRITES_MORE
        if unsure or not (known or name in HARMLESS):
            return None
        words = [use.word for use in uses_of(command) if use.kind == "write"]
        found += [re.sub(r"\$\{?\w+\}?", "{}", one.value or one.text.strip('"')) for one in words]
    return found


@rule("JS413 The folder of output, error or log is not there", kind="condor")
def _log_folders(job: CondorJob) -> Iterator[Hit]:
    """HTCondor does not make it: the job is held. With transfers HTCondor 23 makes it."""
    if job.forgiven or job.fed is True:  # a script or node of its DAG may
        return
    for one in job.instances:
        start = job.start(one)
        if start is not None and start != job.folder and _absent(start, job):
            place = one.setting("initialdir", "initial_dir").place
            yield hit(place, f"initialdir {one.known('initialdir', 'initial_dir')} is not there")
            continue
        for name in ("output", "error", "log"):
            value = (one.value(name) or "").strip('"')
            folder = os.path.dirname(value)  # noqa: PTH120
            if not folder or "$" in folder or start is None or value.startswith("/dev/"):
                continue
            if _absent(path := job.place_of(folder, start), job):
                folder = folder if start == job.folder else os.path.relpath(path, job.folder)
                made = name != "log" and job.transfers(one)
                yield hit(one.setting(name), f"{folder} is not there", f"mkdir -p {folder}",
                          severity="warning" if made else None)  # fmt: skip
