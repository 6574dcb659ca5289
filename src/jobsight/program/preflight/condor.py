"""JS4xx: submit files of HTCondor."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from jobsight.program.preflight.condorjob import CondorJob, Instance, megabytes
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.submission.condor import COMMANDS, fields_of, split_arguments
from jobsight.program.submission.job import Place, Setting
from jobsight.text import wordlist

__all__ = ["NOT_TRANSFERRED"]

NOT_TRANSFERRED = "JS412"
_ALWAYS = "executable = /bin/echo\n"
_CAT = "executable = /bin/cat\nshould_transfer_files = YES\narguments = in.dat\n"


def _absent(path: str, job: CondorJob) -> bool:
    if job.machine.exists(path):
        return False
    return path.startswith(f"{job.folder}/") or job.machine.visible(path)


@rule(
    "JS401 The executable is not there",
    fails="executable = no-such.sh\nqueue\n",
    passes="executable = run.sh\nqueue\n=== run.sh\n#!/bin/sh\necho hello\n",
    kind="condor",
)
def _executables(job: CondorJob) -> Iterator[Hit]:
    """It is named relative to the folder of the submission, and transferred by default."""
    for one in job.instances:
        name = one.known("executable")
        if not name or _in_image(one) or one.yes("transfer_executable") is False:
            continue
        path = job.place_of(name, job.folder)
        setting = one.setting("executable")
        if _absent(path, job):
            near = difflib.get_close_matches(os.path.basename(path), _names(path), 1, 0.7)  # noqa: PTH119
            yield hit(
                setting, f"{name} is not there: condor_submit refuses it", near[0] if near else None
            )
        elif job.machine.is_folder(path):
            yield hit(setting, f"{name} is a folder")
    for queue in job.submission.queues:
        if (
            "executable" not in queue.commands
            and "shell" not in queue.commands
            and not ({"docker_image", "container_image", "noop_job"} & queue.commands.keys())
        ):
            yield hit(queue, "no executable is given", "executable = PROGRAM")


def _in_image(one: Instance) -> bool:
    images = {"docker_image", "container_image"} & one.queue.commands.keys()
    return bool(images) and (one.known("executable") or "").startswith("/")


def _names(path: str) -> list[str]:
    try:
        return os.listdir(os.path.dirname(path))[:2000]  # noqa: PTH120, PTH208
    except OSError:
        return []


@rule(
    "JS402 The executable may not be executed",
    fails="executable = run.sh\ntransfer_executable = false\nqueue\n=== run.sh\n#!/bin/sh\n",
    passes="executable = /bin/echo\ntransfer_executable = false\nqueue\n",
    kind="condor",
)
def _executable_bits(job: CondorJob) -> Iterator[Hit]:
    """Without its bit it cannot be started; where it is transferred, HTCondor may set it."""
    for one in job.instances:
        name = one.known("executable")
        if not name or _in_image(one):
            continue
        path = job.place_of(name, job.folder)
        if (
            job.machine.exists(path)
            and not job.machine.is_folder(path)
            and not job.machine.may(path, 1)
        ):
            sure = one.yes("transfer_executable") is False or not job.transfers(one)
            severity: Severity | None = None if sure else "warning"
            yield hit(
                one.setting("executable"),
                f"{name} may not be executed",
                f"chmod +x {name}",
                severity=severity,
            )


@rule(
    "JS403 A file to be transferred is not there",
    fails=_ALWAYS + "transfer_input_files = no-such.dat\nqueue\n",
    passes=_ALWAYS + "transfer_input_files = in.dat\nqueue\n=== in.dat\n1\n",
    kind="condor",
)
def _inputs(job: CondorJob) -> Iterator[Hit]:
    """The job is held when it starts."""
    for one in job.instances:
        for name, path in job.found(one):
            if _absent(path.rstrip("/"), job):
                near = difflib.get_close_matches(os.path.basename(path), _names(path), 1, 0.7)  # noqa: PTH119
                yield hit(
                    _item_place(one, name, one.setting("transfer_input_files"), job),
                    f"{name} is not there: the job is held",
                    near[0] if near else None,
                )
        name = one.known("input") or ""
        folder = job.start(one)
        if (
            name
            and folder is not None
            and _absent(job.place_of(name, folder), job)
            and not name.startswith("/dev/")
        ):
            yield hit(
                _item_place(one, name, one.setting("input"), job),
                f"{name} is not there: the job is held",
            )
    for problem in job.submission.problems:
        if problem.kind == "missing":
            yield hit(problem, problem.message, problem.fix)


def _item_place(one: Instance, name: str, setting: Setting, job: CondorJob) -> Place:
    """That of the item where the name comes from it, if the list is in this file."""
    if name not in setting.value and one.queue.items is not None and one.queue.file is None:
        for place, line in one.queue.items:
            if any(value in name and value in line for value in one.own.values()):
                return place
    return setting.place


@rule(
    "JS404 A command that HTCondor does not know",
    fails=_ALWAYS + "request_memroy = 4GB\nqueue\n",
    passes=_ALWAYS + "request_memory = 4GB\nqueue\n",
    kind="condor",
)
def _unknown(job: CondorJob) -> Iterator[Hit]:
    """One slip away from a command, and used nowhere: condor_submit ignores it."""
    used = {name.lower() for name in re.findall(r"\$\((\w+)", job.text)}
    used |= {
        name.lower() for name in re.findall(r"^\s*if\s+defined\s+(\w+)", job.text, re.M | re.I)
    }
    for name, setting in _all_settings(job).items():
        if (
            name in COMMANDS
            or name in used
            or (name.startswith(("+", "my.", "request_", "$")) and not _misspelt(name))
        ):
            continue
        near = _misspelt(name)
        if near is not None:
            yield hit(
                setting, f"condor_submit ignores {setting.name}", f"{near} = {setting.value[:60]}"
            )


def _all_settings(job: CondorJob) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for queue in job.submission.queues:
        found |= queue.commands
    return {**found, **job.submission.settings}


def _misspelt(name: str) -> str | None:
    if name in COMMANDS or name.startswith(("+", "my.")):
        return None
    near = difflib.get_close_matches(name.replace("-", "_"), COMMANDS, 1, 0.85)
    return near[0] if near and len(name) > 4 else None


@rule(
    "JS405 A queue statement and its list do not fit",
    fails=_ALWAYS + "arguments = $(a) $(b)\nqueue a, b from (\n  1, 2\n  3\n)\n",
    passes=_ALWAYS + "arguments = $(a) $(b)\nqueue a, b from (\n  1, 2\n  3, 4\n)\n",
    kind="condor",
)
def _queue_fields(job: CondorJob) -> Iterator[Hit]:
    """Too few fields leave a variable empty; too many end up in the last."""
    for queue in job.submission.queues:
        wanted = len(queue.names)
        if wanted < 2 or queue.items is None:
            continue
        for place, line in queue.items:
            have = len(fields_of(line))
            if have != wanted and (have < wanted or "," in line):
                inside = f" of {queue.file}" if queue.file else ""
                text = f"{line[:40]!r}{inside} has {have} fields, queue has {wanted} variables"
                yield hit(place, text, ", ".join(queue.names))
                break


_OWN = re.compile(r"\$\((?:Process|ProcId|Proc|Step|Row|ItemIndex|Node|Cluster(?:Id)?\.\$)", re.I)


@rule(
    "JS406 Several jobs write to one file",
    fails=_ALWAYS + "output = out.txt\nqueue 10\n",
    passes=_ALWAYS + "output = out.$(Process).txt\nqueue 10\n",
    kind="condor",
)
def _shared_outputs(job: CondorJob) -> Iterator[Hit]:
    """Files of output and error have the same name for all jobs of a queue statement."""
    for queue in job.submission.queues:
        if queue.jobs is None and not (queue.file and queue.count):
            continue
        if queue.jobs is not None and queue.jobs < 2:
            continue
        items = len(queue.items or ()) > 1 or queue.file is not None
        folder = queue.commands.get("initialdir")
        for name in ("output", "error"):
            if name not in queue.commands:
                continue
            value = Instance(queue, {}).value(name) or ""
            of_item = items and any(
                f"$({n})".lower() in re.sub(r"\$[fF]\w*\(", "$(", value).lower()
                for n in queue.names
            )
            counted = (queue.count or 1) > 1 and not _OWN.search(value)
            if (
                value.startswith("/dev/")
                or _OWN.search(value)
                or (of_item and not counted)
                or "$$(" in value
            ):
                continue
            if folder is not None and "$(" in folder.value:
                continue
            many = f"{queue.jobs} jobs" if queue.jobs else "all jobs"
            yield hit(
                queue.commands[name],
                f"{many} write their {name} to {value[:60]}",
                f"{name} = {_with_process(queue.commands[name].value)}",
            )


def _with_process(value: str) -> str:
    stem, dot, ending = value.rpartition(".")
    return f"{stem}.$(Process).{ending}" if dot else f"{value}.$(Process)"


@rule(
    "JS407 Commands that contradict each other",
    fails=_ALWAYS
    + "should_transfer_files = NO\ntransfer_input_files = in.dat\nqueue\n=== in.dat\n1\n",
    passes=_ALWAYS
    + "should_transfer_files = YES\ntransfer_input_files = in.dat\nqueue\n=== in.dat\n1\n",
    kind="condor",
)
def _contradictions(job: CondorJob) -> Iterator[Hit]:
    """Transfer switched off and lists given; a universe without its image; unknown values."""
    for one in job.instances[:1] + job.instances[-1:]:
        given = one.queue.commands
        chosen = (one.known("should_transfer_files") or "").upper()
        when = (one.known("when_to_transfer_output") or "").upper()
        if "should_transfer_files" in given and chosen and chosen not in ("YES", "NO", "IF_NEEDED"):
            yield hit(
                given["should_transfer_files"],
                f"should_transfer_files = {chosen[:20]}",
                "YES, NO or IF_NEEDED",
            )
        if (
            "when_to_transfer_output" in given
            and when
            and when not in ("ON_EXIT", "ON_EXIT_OR_EVICT", "ON_SUCCESS", "NEVER")
        ):
            yield hit(
                given["when_to_transfer_output"],
                f"when_to_transfer_output = {when[:20]}",
                "ON_EXIT, ON_EXIT_OR_EVICT or ON_SUCCESS",
            )
        for name in ("transfer_input_files", "transfer_output_files", "when_to_transfer_output"):
            if chosen == "NO" and name in given:
                yield hit(
                    given[name],
                    f"should_transfer_files = NO, so {name} does nothing",
                    "should_transfer_files = YES",
                )
        universe = (one.known("universe") or "vanilla").lower()
        for kind in ("docker", "container"):
            if universe == kind and f"{kind}_image" not in given:
                yield hit(given["universe"], f"universe = {kind} needs {kind}_image")
        if universe not in wordlist(
            "vanilla docker container local scheduler grid java vm parallel"
        ):
            yield hit(one.setting("universe"), f"there is no universe {universe[:30]}", "vanilla")
        if universe == "grid" and "grid_resource" not in given:
            yield hit(given["universe"], "universe = grid needs grid_resource")
        if "docker_image" in given and universe in ("local", "scheduler", "java"):
            yield hit(given["docker_image"], f"universe = {universe} does not run docker_image")


@rule(
    "JS408 Retries that cannot succeed, or never end",
    fails=_ALWAYS + "max_retries = 5\non_exit_hold = ExitCode != 0\nqueue\n",
    passes=_ALWAYS + "max_retries = 5\nqueue\n",
    kind="condor",
)
def _retries(job: CondorJob) -> Iterator[Hit]:
    """Policies that hold, requeue or release a job however it ended."""
    for one in job.instances[:1]:
        given = one.queue.commands
        remove = re.sub(r"[\s()]", "", one.value("on_exit_remove") or "").lower()
        if remove in ("false", "0"):
            yield hit(
                given["on_exit_remove"],
                "on_exit_remove is never true: the job runs again for ever",
                "on_exit_remove = ExitCode == 0 || NumJobCompletions > 3",
            )
        hold = re.sub(r"\s", "", one.value("on_exit_hold") or "").lower()
        if "max_retries" in given and re.search(r"exitcode(?:!=|=!=|>)0|^\(?true", hold):
            yield hit(
                given["max_retries"],
                "on_exit_hold holds each failure before it is tried again",
                "leave out on_exit_hold, or max_retries",
            )
        release = re.sub(r"[\s()]", "", one.value("periodic_release") or "").lower()
        if (
            release
            and release not in ("false", "0")
            and not re.search(
                r"num(?:job|shadow|system)?\w*(?:starts|holds|completions)|runcount|holdreasonsubcode|holdreasoncode|"
                r"enteredcurrentstatus|my\.\w+",
                release,
            )
        ):
            yield hit(
                given["periodic_release"],
                "every hold is released again, for ever",
                "periodic_release = NumHolds < 5 && ...",
                severity="warning",
            )
        retries = one.known("max_retries")
        if retries is not None and not re.fullmatch(r"\d+", retries.strip()):
            yield hit(
                given["max_retries"],
                f"max_retries = {retries[:20]} is not a number",
                "max_retries = 3",
            )
        codes = one.known("success_exit_code"), one.known("retry_until")
        if codes[0] is not None and codes[0] == codes[1]:
            continue
        periodic = re.sub(
            r"[\s()]", "", one.value("periodic_remove") or one.value("periodic_hold") or ""
        ).lower()
        if periodic in ("true", "1"):
            name = "periodic_remove" if "periodic_remove" in given else "periodic_hold"
            yield hit(given[name], f"{name} is always true: the job never runs to its end")


@rule(
    "JS409 A submit file that cannot be read",
    fails=_ALWAYS + 'arguments = "one \'two three"\n',
    passes=_ALWAYS + "arguments = \"one 'two three'\"\nqueue\n",
    kind="condor",
)
def _syntax(job: CondorJob) -> Iterator[Hit]:
    """Lines that are not commands, quotes, ``if`` without ``endif``, no ``queue``."""
    for problem in job.submission.problems:
        if problem.kind == "syntax":
            yield hit(problem, problem.message, problem.fix)
    if not job.submission.queues and not job.in_dag:
        last = max((one.place.line for one in job.submission.settings.values()), default=1)
        yield hit(last, "there is no queue statement: nothing is submitted", "queue")
    for name in ("arguments", "environment"):
        for setting in {q.commands[name] for q in job.submission.queues if name in q.commands}:
            words, wrong = split_arguments(setting.value)
            if wrong is not None:
                yield hit(setting, f"{name}: {wrong}")
            elif name == "environment" and setting.value.startswith('"'):
                bad = next((w for w in words if "=" not in w and "$(" not in w), None)
                if bad is not None:
                    yield hit(
                        setting,
                        f"environment: {bad[:40]!r} is not NAME=VALUE",
                        "quote values with blanks: \"A='x y'\"",
                    )


_EXPRESSIONS = wordlist(
    "requirements rank on_exit_remove on_exit_hold periodic_remove periodic_hold "
    "periodic_release retry_until leave_in_queue"
)  # fmt: skip


@rule(
    "JS415 An expression that HTCondor cannot read",
    fails=_ALWAYS + "on_exit_remove = (ExitCode = 0)\nqueue\n",
    passes=_ALWAYS + "on_exit_remove = (ExitCode == 0)\nqueue\n",
    kind="condor",
)
def _expressions(job: CondorJob) -> Iterator[Hit]:
    """One ``=`` where ``==`` is meant, brackets and quotes not closed, texts without quotes."""
    for setting in {
        one for q in job.submission.queues for n, one in q.commands.items() if n[0] == "+"
    }:
        bare = re.fullmatch(r"[A-Za-z_][\w-]*", setting.value)
        if bare and setting.value.lower() not in ("true", "false", "undefined", "error"):
            yield hit(
                setting,
                f"{setting.name}: {bare[0][:40]} is taken for an attribute",
                f'{setting.name} = "{bare[0][:40]}"',
            )
    for name in _EXPRESSIONS:
        for setting in {q.commands[name] for q in job.submission.queues if name in q.commands}:
            text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', setting.value)
            if re.search(r"(?<![=!<>?])=(?![=!?])", re.sub(r"=[?!]=", "", text)):
                yield hit(setting, f"{setting.name}: = assigns, == compares", "==")
            elif text.count("(") != text.count(")"):
                yield hit(setting, f"{setting.name}: a bracket is not closed")
            elif text.count('"') % 2:
                yield hit(setting, f"{setting.name}: a quote is not closed")
            elif re.search(r"\b(?:and|or|not)\b", text):
                yield hit(setting, f"{setting.name}: ClassAds have &&, || and !", "&&, ||, !")


_AMOUNT = re.compile(r"\d+(?:\.\d+)?\s*(?:[KMGTP](?:i?B)?|B)?", re.I)


@rule(
    "JS410 An amount that HTCondor cannot read",
    fails=_ALWAYS + "request_memory = 4 gigs\nqueue\n",
    passes=_ALWAYS + "request_memory = 4 GB\nqueue\n",
    kind="condor",
)
def _amounts(job: CondorJob) -> Iterator[Hit]:
    """Numbers, or expressions of the job's attributes; memory without a unit is MB, disk KB."""
    for one in job.instances[:1] + job.instances[-1:]:
        for name in ("request_memory", "request_disk", "request_cpus", "request_gpus"):
            value = one.known(name)
            if value is None or re.search(r"[()?<>*/+]|\b[A-Z]\w+[a-z]\w*\b.*[<>=]", value):
                continue
            whole = name in ("request_cpus", "request_gpus")
            good = re.fullmatch(r"\d+", value) if whole else _AMOUNT.fullmatch(value)
            if good is None and not re.fullmatch(
                r"(?i)undefined|ifthenelse.*|my\.\w+|target\.\w+", value
            ):
                yield hit(
                    one.setting(name),
                    f"{name} = {value[:40]} is not an amount",
                    "a whole number" if whole else f"{name} = 4GB",
                )
            elif name == "request_memory" and re.fullmatch(r"[1-9]|1\d|[23]\d", value):
                yield hit(
                    one.setting(name),
                    f"{name} = {value} asks for {value} MB",
                    f"{name} = {value}GB",
                    severity="warning",
                )
            elif name == "request_cpus" and value == "0":
                yield hit(one.setting(name), "request_cpus = 0", "request_cpus = 1")


@rule(
    "JS411 No slot of the pool can run the job",
    fails=_ALWAYS + "request_memory = 900 GB\nqueue\n",
    passes=_ALWAYS + "request_memory = 2 GB\nqueue\n",
    kind="condor",
)
def _matches(job: CondorJob) -> Iterator[Hit]:
    """Requests and requirements against the ads of ``condor_status``."""
    slots = job.site.slots if job.site is not None else []
    if not slots:
        return
    for one in job.instances[:1] + job.instances[-1:]:
        for name, attribute, unit in (
            ("request_memory", "Memory", "m"),
            ("request_disk", "Disk", "k"),
            ("request_cpus", "Cpus", ""),
            ("request_gpus", "Gpus", ""),
        ):
            text = one.known(name)
            most = max((_number(ad, attribute) for ad in slots), default=0.0)
            if text is None or (not most and attribute != "Gpus"):
                continue
            asked = megabytes(text, unit) if unit else (float(text) if text.isdecimal() else None)
            most = most / 1024 if attribute == "Disk" else most
            if asked is not None and asked > most:
                yield hit(
                    one.setting(name),
                    f"{name} = {text}: no slot of the pool has more than {most:,.0f}"
                    + (" MB" if unit else ""),
                )
        text = one.known("requirements")
        if text and _never(text, slots):
            yield hit(one.setting("requirements"), "no slot of the pool meets the requirements")


def _number(ad: dict[str, str], attribute: str) -> float:
    texts = [
        ad.get(f"{prefix}{attribute}", "") for prefix in ("TotalSlot", "Total", "Detected", "")
    ]
    return max((float(one) for one in texts if re.fullmatch(r"\d+(?:\.\d+)?", one)), default=0.0)


def _never(text: str, slots: list[dict[str, str]]) -> bool:
    """Whether an expression is true of no slot; not known without HTCondor's own library.

    Attributes that no slot has are those of the job: then too it is not known.
    """
    try:
        import classad2
    except ImportError:
        return False
    known = {name.lower() for ad in slots for name in ad} | _WORDS
    if set(re.findall(r"[a-z_]\w*", re.sub(r'"[^"]*"', "", text).lower())) - known:
        return False
    try:
        expression = classad2.ExprTree(re.sub(r"(?i)\b(?:target|my)\.", "", text))
        for ad in slots[:5000]:
            slot = classad2.ClassAd()
            for name, value in ad.items():
                slot[name] = classad2.ExprTree(value)
            if expression.eval(slot) in (True, 1):
                return False
    except (classad2.ClassAdException, ValueError, SyntaxError, TypeError, RuntimeError):
        return False
    return True


_WORDS = {"true", "false", "undefined", "target", "my", "is", "isnt"}


@rule(
    f"{NOT_TRANSFERRED} A file that the job reads is not transferred",
    fails=_CAT + "queue\n=== in.dat\n1\n",
    passes=_CAT + "transfer_input_files = in.dat\nqueue\n=== in.dat\n1\n",
    kind="condor",
)
def _not_transferred(job: CondorJob) -> Iterator[Hit]:
    """Files here that ``arguments`` name; where the executable reads them, `check` adds it."""
    for one in job.instances:
        listed = job.inputs(one)
        text = one.known("arguments")
        folder = job.start(one)
        if not job.transfers(one) or listed is None or not text or folder is None:
            continue
        there = {PurePosixPath(name).name for name in listed} | {
            PurePosixPath(one.known("executable") or "").name
        }
        there |= {PurePosixPath(one.known("input") or "").name}
        whole = any(name.endswith("/") for name in listed)
        words, _ = split_arguments(one.value("arguments") or "")
        for word in words:
            name = word.rpartition("=")[2] if word.startswith("-") else word
            path = job.place_of(name, folder)
            if (
                "$" in name
                or whole
                or name.startswith(("/", "-"))
                or not job.machine.exists(path)
                or name in ("", ".")
            ):
                continue
            if name.partition("/")[0] not in there and not job.machine.is_folder(path):
                setting = one.setting("transfer_input_files", "arguments")
                yield hit(
                    setting,
                    f"{name} is named in arguments and not transferred",
                    f"transfer_input_files = {', '.join([*listed, name])[:100]}",
                )


@rule(
    "JS413 The folder of output, error or log is not there",
    fails=_ALWAYS + "output = no-such/out.$(Process)\nqueue\n",
    passes=_ALWAYS + "output = out.$(Process)\nqueue\n",
    kind="condor",
)
def _log_folders(job: CondorJob) -> Iterator[Hit]:
    """HTCondor does not make it: the job is held, or condor_submit refuses it."""
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
            if _absent(job.place_of(folder, start), job):
                yield hit(one.setting(name), f"{folder} is not there", f"mkdir -p {folder}")


@rule(
    "JS414 A macro that nothing sets",
    fails=_ALWAYS + "sample = a\narguments = $(smaple)\nqueue\n",
    passes=_ALWAYS + "sample = a\narguments = $(sample)\nqueue\n",
    kind="condor",
)
def _macros(job: CondorJob) -> Iterator[Hit]:
    """It becomes nothing, without a word."""
    if job.in_dag or re.search(r"^\s*(?:include|use)\b", job.text, re.M | re.I):
        return
    known = {name.lower() for name in _all_settings(job)} | {
        n.lower() for q in job.submission.queues for n in q.names
    }
    known |= frozenset(
        wordlist(
            "process procid proc cluster clusterid step row item itemindex node jobid "
            "submit_file submit_time year month day spool arch opsys opsysver opsysmajorver "
            "opsysandver home fqdn hostname full_hostname ip_address username dollar tilde "
            "submitfile retry dag_status failed_count numjobs detected_cores detected_memory"
        )
    )
    seen: set[str] = set()
    for setting in sorted(_all_settings(job).values(), key=lambda s: s.place):
        for found in re.finditer(r"(?<!\$)\$\((\w+)\)", setting.value):
            name = found[1].lower()
            if name not in known and name not in seen:
                seen.add(name)
                near = difflib.get_close_matches(name, known, 1)
                severity: Severity | None = None if near else "warning"
                yield hit(
                    setting,
                    f"nothing sets $({found[1]}): it becomes empty",
                    f"$({near[0]})" if near else None,
                    severity=severity,
                )
