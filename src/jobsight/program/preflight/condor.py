"""JS404, JS405, JS407–JS411, JS414, JS415, JS418: what HTCondor makes of a submit file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.known import KNOWN
from jobsight.program.preflight.condorjob import CondorJob, Instance, all_settings, megabytes
from jobsight.program.preflight.findings import Hit, Severity, hit, reported, rule
from jobsight.program.preflight.job import Job
from jobsight.program.submission.condor import ATTRIBUTES, COMMANDS, fields_of, split_arguments
from jobsight.program.submission.job import Setting
from jobsight.text import closest, meant, one_slip, wordlist, wordset

__all__ = ["GIVEN_MACROS"]


@rule("JS404 A command that HTCondor does not know", kind="condor")
def _unknown(job: CondorJob) -> Iterator[Hit]:
    """Almost the name of a command, and used nowhere: condor_submit ignores it.

    The names of a job's attributes are commands, too: ``RequestCpus``, ``PeriodicHold``.
    """
    used = {name.lower() for name in re.findall(r"\$\((\w+)", job.text)}
    used |= set(re.findall(r"(?m)^[ \t]*(?:el)?if\s+!?\s*defined\s+(\w+)", job.text.lower()))
    for name, setting in all_settings(job).items():
        known = name in COMMANDS | ATTRIBUTES | used or name.startswith(("+", "my."))
        if known or len(name) < 5 or not closest(name, COMMANDS, 0.85):
            continue
        near = meant(name, COMMANDS)
        fix = f"{near} = {setting.value[:60]}" if near else None
        message = f"condor_submit ignores {setting.name}"
        yield hit(setting, message, fix, severity=None if near else "warning")


@rule("JS405 A queue statement and its list do not fit", kind="condor")
def _queue_fields(job: CondorJob) -> Iterator[Hit]:
    """Too few fields leave a variable empty; too many end up in the last."""
    for queue in job.submission.queues:
        wanted = len(queue.names)
        if wanted < 2 or queue.items is None:
            continue
        counts = [(max(len(fields_of(line, wanted)), line.count(",") + 1), place, line)
                  for place, line in queue.items]  # fmt: skip
        wrong = [one for one in counts if one[0] != wanted]
        if wrong:
            have, place, line = wrong[0]
            inside = f" of {queue.file}" if queue.file else ""
            text = f"{line[:40]!r}{inside} has {have} fields, queue has {wanted} variables"
            if queue.file and len(wrong) == len(counts):  # it is the statement that is wrong
                yield hit(queue, text, ", ".join(queue.names))
            else:
                yield hit(place, text, ", ".join(queue.names), source=job.listed_in(queue))


@rule("JS407 Commands that contradict each other", kind="condor")
def _contradictions(job: CondorJob) -> Iterator[Hit]:
    """Transfer switched off and lists given; a universe without its image; unknown values."""
    for one in job.instances[:1] + job.instances[-1:]:
        given = one.queue.commands
        chosen = one.transfer
        when = (one.known("when_to_transfer_output") or "").upper()
        if chosen and chosen not in ("YES", "NO", "IF_NEEDED"):
            message = f"should_transfer_files = {chosen[:20]}"
            yield hit(given["should_transfer_files"], message, "YES, NO or IF_NEEDED")
        if when and when not in ("ON_EXIT", "ON_EXIT_OR_EVICT", "ON_SUCCESS", "NEVER"):
            message = f"when_to_transfer_output = {when[:20]}"
            fix = "ON_EXIT, ON_EXIT_OR_EVICT or ON_SUCCESS"
            yield hit(given["when_to_transfer_output"], message, fix)
        if chosen == "IF_NEEDED" and when == "ON_EXIT_OR_EVICT":
            yield hit(given["when_to_transfer_output"],
                      "ON_EXIT_OR_EVICT needs should_transfer_files = YES", "ON_EXIT")  # fmt: skip
        for name in ("transfer_input_files", "transfer_output_files", "when_to_transfer_output"):
            if chosen == "NO" and name in given:
                message = f"should_transfer_files = NO, so {name} does nothing"
                yield hit(given[name], message, "should_transfer_files = YES")
        notify = one.known("notification") or "never"
        if notify.lower() not in ("never", "always", "complete", "error"):
            message = f"notification = {notify[:20]}"
            yield hit(given["notification"], message, "Never, Complete, Error")
        given = one.queue.commands
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
    last = max((one.place for one in job.submission.queues), default=None)
    for setting in job.submission.settings.values():
        if last is not None and setting.place > last and setting.name.lower() in COMMANDS:
            yield hit(setting, f"{setting.name} comes after the last queue, and has no effect",
                      "move it above", severity="warning")  # fmt: skip


_HEAVY = (("queue", 8), ("request_cpus", 4), ("request_gpus", 1), ("request_memory", 8192))
"""Jobs, CPUs, GPUs and MiB from which work is too heavy for an access point."""


@rule("JS418 Heavy work on the access point", severity="warning", kind="condor")
def _on_access_point(job: CondorJob) -> Iterator[Hit]:
    """Jobs of the universes local and scheduler run where they are submitted, as all users do."""
    for queue in job.submission.queues:
        one = Instance(queue, {})
        universe = (one.known("universe") or "").lower()
        amounts = {name: megabytes(one.known(name) or "", "m") or 0 for name, _ in _HEAVY}
        amounts["queue"] = queue.jobs or 0
        heavy = next((name for name, least in _HEAVY if amounts[name] >= least), None)
        if universe in ("local", "scheduler") and heavy:
            much = f"{queue.jobs} jobs" if heavy == "queue" else f"{heavy} = {one.known(heavy)}"
            yield hit(one.setting("universe"), f"universe = {universe} runs {much} on the access"
                      " point, not on a worker", "universe = vanilla")  # fmt: skip


@rule("JS409 A submit file that cannot be read", kind="condor")
def _syntax(job: CondorJob) -> Iterator[Hit]:
    """Lines that are not commands, quotes, ``if`` without ``endif``, no ``queue``."""
    yield from reported(job.submission.problems, "syntax")
    called = re.search(r"(?m)^[ \t]*#.*\s-(?:queue|append|a)\b", job.text)
    if not (job.submission.queues or job.in_dag or called):
        last = max((one.place.line for one in job.submission.settings.values()), default=1)
        message = "there is no queue statement: only with -queue, or in a DAG, is it submitted"
        yield hit(last, message, "queue", severity="warning")
    for queue in job.submission.queues:
        remaps = queue.commands.get("transfer_output_remaps")
        if remaps is not None and re.search(r"=[^;,]*,[^;=]*=", remaps.value):
            yield hit(remaps, "transfer_output_remaps: ; separates, not a comma", ";")
    for name in ("arguments", "environment"):
        for setting in {q.commands[name] for q in job.submission.queues if name in q.commands}:
            words, wrong = split_arguments(setting.value)
            if wrong is not None:
                yield hit(setting, f"{name}: {wrong}")
            elif name == "environment" and re.search(r"^[^\"]*=[^\s;]*\s+\w+=", setting.value):
                yield hit(setting, "environment: without double quotes ; separates, not blanks",
                          f'"{setting.value[:80]}"')  # fmt: skip
            elif name == "environment" and setting.value.startswith('"'):
                if re.search(r"=[^\s';]*;\s*\w+=", setting.value):
                    yield hit(setting, "environment: in double quotes blanks separate, not ;")
                bad = next((w for w in words if "=" not in w and "$(" not in w), None)
                if bad is not None:
                    message = f"environment: {bad[:40]!r} is not NAME=VALUE"
                    yield hit(setting, message, "quote values with blanks: \"A='x y'\"")


_EXPRESSIONS = wordlist(
    "requirements rank on_exit_remove on_exit_hold periodic_remove periodic_hold "
    "periodic_release retry_until leave_in_queue"
)  # fmt: skip


@rule("JS415 An expression that HTCondor cannot read", kind="condor")
def _expressions(job: CondorJob) -> Iterator[Hit]:
    """One ``=`` where ``==`` is meant, brackets and quotes not closed, texts without quotes."""
    commands = [one for queue in job.submission.queues for one in queue.commands.items()]
    for setting in {one for name, one in commands if name[0] == "+"}:
        bare = re.fullmatch(r"[A-Za-z_][\w-]*", setting.value)
        names = {"true", "false", "undefined", "error", *(name.strip("+") for name, _ in commands)}
        if bare and setting.value.lower() not in names | COMMANDS | ATTRIBUTES:
            message = f"{setting.name}: {bare[0][:40]} is taken for an attribute"
            yield hit(setting, message, f'{setting.name} = "{bare[0][:40]}"')
    for name in _EXPRESSIONS:
        for setting in {one for own, one in commands if own == name}:
            text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', setting.value)
            if re.search(r"(?<![=!<>?])=(?![=!?])", re.sub(r"=[?!]=", "", text)):
                yield hit(setting, f"{setting.name}: = assigns, == compares", "==")
            elif found := re.search(
                r"(?i)\b(arch|opsys|opsysandver|machine|filesystemdomain|uiddomain|name)\s*[=!]?==?\s*"
                r"(?!\"|undefined|my\.|target\.|error)([\w.-]*[a-z][\w.-]*)", text
            ):  # fmt: skip
                yield hit(setting, f"{found[2]} is taken for an attribute", f'"{found[2]}"')
            elif text.count("(") != text.count(")"):
                yield hit(setting, f"{setting.name}: a bracket is not closed")
            elif text.count('"') % 2:
                yield hit(setting, f"{setting.name}: a quote is not closed")
            elif re.search(r"\b(?:and|or|not)\b", text):
                yield hit(setting, f"{setting.name}: ClassAds have &&, || and !", "&&, ||, !")


GIVEN_MACROS = wordset(KNOWN["condor"]["given_macros"])
"""Macros that HTCondor sets, in lower case."""


@rule("JS414 A macro that nothing sets", kind="condor")
def _macros(job: CondorJob) -> Iterator[Hit]:
    """It becomes nothing, without a word, unless the command line or a DAG sets it."""
    if job.in_dag or re.search(r"^[ \t]*(?:include|use)\b", job.text, re.M | re.I):
        return
    names = [*all_settings(job), *(one for queue in job.submission.queues for one in queue.names)]
    own = {one.lower() for one in names}
    known = own | GIVEN_MACROS
    used = {one.lower() for one in re.findall(r"\$\((\w+)", job.text)}
    calls = re.findall(r"(?m)^[ \t]*#.*\bcondor_submit\b(.*)", job.text.lower())
    known |= {*re.findall(r"\w+", " ".join(calls))}
    long = {one for one in GIVEN_MACROS if len(one) > 5}  # $(mode) is not $(node)
    lost: dict[str, Setting] = {}
    for setting in sorted(all_settings(job).values(), key=lambda s: s.place):
        if re.search(r"(?<!\$)\$\([\w.]*(?:$|[^\w.):])", setting.value) and setting.name[0] != "+":
            yield hit(setting, "a macro is not closed: $(NAME)")
        form = r"(?i)(?<!\$)\$\{?(process|cluster|procid|clusterid|item)\b"
        bare = re.search(form, setting.value)
        if bare:
            yield hit(setting, f"{bare[0]} is not filled in", f"$({bare[1]})")
        for found in re.finditer(r"(?<!\$)\$\((\w+)\)", setting.value):
            name = found[1].lower()
            near = meant(name, own - used | long) if name not in known else None
            if near is not None:
                message = f"nothing sets $({found[1]}): it becomes empty"
                yield hit(setting, message, f"$({near})")
            elif name not in known:
                lost.setdefault(f"$({found[1]})", setting)
    if lost:
        message = f"nothing here sets {', '.join(lost)[:100]}: the command line, or a DAG, must"
        yield hit(next(iter(lost.values())), message, severity="warning")


_AMOUNT = re.compile(r"\d+(?:\.\d+)?\s*(?:[KMGTP](?:i?B)?|B)?", re.I)


@rule("JS410 An amount that HTCondor cannot read", kind="condor")
def _amounts(job: CondorJob) -> Iterator[Hit]:
    """Numbers, or expressions of the job's attributes; memory without a unit is MB, disk KB."""
    for one in job.instances[:1] + job.instances[-1:]:
        for name in ("request_memory", "request_disk", "request_cpus", "request_gpus"):
            value = one.known(name)
            if not value or re.search(r"[()?<>*/+]|\b[A-Z]\w+[a-z]\w*\b.*[<>=]", value):
                continue
            whole = name in ("request_cpus", "request_gpus")
            good = re.fullmatch(r"\d+", value) if whole else _AMOUNT.fullmatch(value)
            form = r"(?i)undefined|ifthenelse.*|my\.\w+|target\.\w+"
            if good is None and not re.fullmatch(form, value):
                fix = "a whole number" if whole else f"{name} = 4GB"
                yield hit(one.setting(name), f"{name} = {value[:40]} is not an amount", fix)
            elif name == "request_memory" and re.fullmatch(r"[1-9]|1\d|[23]\d", value):
                message = f"{name} = {value} asks for {value} MB"
                yield hit(one.setting(name), message, f"{name} = {value}GB", severity="warning")
            elif name == "request_disk" and re.fullmatch(r"\d{1,3}", value) and value != "0":
                yield hit(one.setting(name), f"{name} = {value} asks for {value} KB",
                          f"{name} = {value}GB", severity="warning")  # fmt: skip
            elif name == "request_cpus" and value == "0":
                yield hit(one.setting(name), "request_cpus = 0", "request_cpus = 1")


@rule("JS411 No slot of the pool can run the job", kind="condor")
def _matches(job: CondorJob) -> Iterator[Hit]:
    """Requests and requirements against the ads of ``condor_status``."""
    if job.site is None or not job.site.slots:
        return
    slots = job.site.slots
    known = {name.lower() for ad in slots for name in ad}
    for one in job.instances[:1] + job.instances[-1:]:
        for attribute, unit in (("Memory", "m"), ("Disk", "k"), ("Cpus", ""), ("GPUs", "")):
            name = f"request_{attribute.lower()}"
            text = one.known(name)
            most = job.site.largest_slot.get(f"Request{attribute}", 0.0)
            if text is None or (not most and attribute != "GPUs"):
                continue
            asked = megabytes(text, unit) if unit else (float(text) if text.isdecimal() else None)
            most = most / 1024 if attribute == "Disk" else most
            if asked is not None and asked > most:
                amount = f"{most:,.0f} MB" if unit else f"{most:,.0f}"
                message = f"{name} = {text}: no slot of the pool has more than {amount}"
                yield hit(one.setting(name), message)
        text = one.known("requirements")
        plain = re.sub(r'"[^"]*"', "", text or "").lower()
        names = set(re.findall(r"[a-z_]\w*", plain))
        for name in sorted(names - known):
            close = (other for other in sorted(known) if len(name) > 4 and one_slip(name, other))
            near = next(close, None)
            if near is not None and not any(key.endswith(name) for key in one.queue.commands):
                yield hit(one.setting("requirements"), f"no slot has an attribute {name}", near)
        if text and names <= known | _WORDS and _never(text, slots):
            yield hit(one.setting("requirements"), "no slot of the pool meets the requirements")


def _never(text: str, slots: list[dict[str, str]]) -> bool:
    """Whether an expression is true of no slot; not known without HTCondor's own library."""
    try:
        import classad2
    except ImportError:
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
"""Names in expressions that are no attributes; others that no slot has are those of the job."""


def _never_ends_with(code: str, script: Job | None) -> bool:
    """Whether a Python program, all of whose exit codes are in its text, has none of this value."""
    if script is None or script.language != "python" or len(script.pythons) != 1:
        return False
    given = re.findall(r"\bexit\(\s*([^()]*)\)|\bSystemExit\(([^()]*)\)", script.text)
    calls = len(re.findall(r"exit\b(?!_)|SystemExit|abort|kill|exec[lv]|returncode", script.text))
    return calls == len(given) and all(re.fullmatch(r"\d*", "".join(one)) for one in given) and (
        code not in {"".join(one) for one in given}
    )  # fmt: skip


@rule("JS408 Retries that cannot succeed, or never end", kind="condor")
def _retries(job: CondorJob) -> Iterator[Hit]:
    """Policies that hold, requeue or release a job however it ended."""
    for one in job.instances[:1]:
        given = one.queue.commands
        remove = re.sub(r"[\s()]", "", one.value("on_exit_remove") or "").lower()
        if remove in ("false", "0"):
            message = "on_exit_remove is never true: the job runs again for ever"
            fix = "on_exit_remove = ExitCode == 0 || NumJobCompletions > 3"
            yield hit(given["on_exit_remove"], message, fix)
        hold = re.sub(r"\s", "", one.value("on_exit_hold") or "").lower()
        kept = "max_retries" in given and "periodic_release" not in given
        if kept and re.search(r"exitcode(?:!=|=!=|>)0|^\(?true", hold):
            message = "on_exit_hold holds each failure before it is tried again"
            yield hit(given["max_retries"], message, "leave out on_exit_hold, or max_retries")
        release = re.sub(r"[\s()]", "", one.value("periodic_release") or "").lower()
        if release and release not in ("false", "0") and not _BOUNDED.search(release):
            message = "every hold is released again, for ever"
            fix = "periodic_release = NumHolds < 5 && ..."
            yield hit(one.setting("periodic_release"), message, fix, severity="warning")
        yield from _good_ends(job, one)
        retries = one.known("max_retries")
        if retries is not None and not re.fullmatch(r"\d+", retries.strip()):
            message = f"max_retries = {retries[:20]} is not a number"
            yield hit(given["max_retries"], message, "max_retries = 3")
        codes = one.known("success_exit_code"), one.known("retry_until")
        for name, code in zip(("success_exit_code", "retry_until"), codes, strict=True):
            if re.fullmatch(r"-\d+|\d{4,}|[3-9]\d\d|2[6-9]\d|25[6-9]", code or ""):
                yield hit(given[name], f"{name} = {code}: exit codes are 0 to 255")
        if (codes[0] or "0") != "0" and _never_ends_with(codes[0] or "", job.script(one)):
            text = f"{one.known('executable')} never ends with {codes[0]}: all runs fail"
            yield hit(given["success_exit_code"], text, "success_exit_code = 0")
        if codes[0] is not None and codes[0] == codes[1]:
            continue
        periodic = one.value("periodic_remove") or one.value("periodic_hold") or ""
        if re.sub(r"[\s()]", "", periodic).lower() in ("true", "1"):
            name = "periodic_remove" if "periodic_remove" in given else "periodic_hold"
            yield hit(given[name], f"{name} is always true: the job never runs to its end")


_BOUNDED = re.compile(
    r"num(?:job|shadow|system)?\w*(?:starts|holds|completions)|runcount|holdreason(?:sub)?code"
    r"|enteredcurrentstatus|my\.\w+"
)


_PROBLEMS = re.compile(
    r"problem|err(?:or)?s?\b|warn|fail|\bbad|\bnan\b|invalid|miss(?:ed|ing)|skipp|reject|debug"
    r"|\bverbose\b|\bnot ",
    re.IGNORECASE,
)
"""Words for what a good run does not have."""
_MEANT = r"\s-\w*q|\s-s\b|--(?:quiet|silent|brief)|/dev/null"
"""Options of ``grep``, ``diff`` and ``cmp`` with which their status is what is wanted."""


def _ends_with_1(script: Job) -> tuple[int, str] | None:
    """The last line of a shell script and its command, where it fails although nothing went wrong.

    ``grep`` for problems and ``diff``, which print; ``[ -s problems ] && …``.
    """
    lines = [(k, one.strip()) for k, one in enumerate(script.text.split("\n"), 1)
             if one.strip() and not one.lstrip().startswith("#")]  # fmt: skip
    while lines and re.fullmatch(r"exit(?: +\$\?)?", lines[-1][1]):
        lines.pop()
    number, line = lines[-1] if lines else (0, "")
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "''", line)
    found = re.match(r"([zef]?grep|diff|cmp)\s|(?:\[\[?|test)\s(?=.*&&)", plain)
    if script.language != "bash" or found is None or number in script.here_lines:
        return None
    if re.search(r"[|;]|&$", plain) or re.search(_MEANT if found[1] else r"\s(?:!|-z)\s", plain):
        return None
    name = found[0].split()[0]
    return (number, name) if name in ("diff", "cmp") or _PROBLEMS.search(line) else None


def _ends_with_count(script: Job) -> tuple[int, str] | None:
    """The line where a Python program returns a number of things, which is its exit status."""
    ended = re.search(r"(?m)^[ \t]*(?:sys\.exit|exit|raise SystemExit)\((\w+)\(.*\)\)", script.text)
    if script.language != "python" or ended is None:
        return None
    body = re.search(rf"(?ms)^def {ended[1]}\(.*?(?=^\S|\Z)", script.text)
    count = re.search(r"(?m)^ {4}return (?:len|sum)\(", body[0]) if body else None
    if body is None or count is None:
        return None
    return script.text.count("\n", 0, body.start() + count.start()) + 1, "a count as exit status"


def _good_ends(job: CondorJob, one: Instance) -> Iterator[Hit]:
    """Runs that are good and do not end with 0, where another status than 0 is a failure."""
    script, given = job.script(one), one.queue.commands
    ends = _ends_with_1(script) or _ends_with_count(script) if script is not None else None
    if script is None or ends is None or {"retry_until", "success_exit_code"} & given.keys():
        return
    message = f"{script.source.file} line {ends[0]}: {ends[1]} ends a good run as a failure"
    severity: Severity | None = "warning" if ends[1] in ("diff", "cmp") else None
    for name, form, what in (
        ("on_exit_remove", r"^(?!.*exitcode\W+1).*exitcode=[=?]=?0", "it runs again"),
        ("on_exit_hold", r"exitcode(?:=?!=|>)0", "it is held"),
        ("max_retries", r"[1-9]\d*", "it runs again"),
    ):
        if re.search(form, re.sub(r"[\s()]", "", one.value(name) or "").lower()):
            yield hit(given[name], f"{message}, so {what}", "|| true", severity=severity)
            return
    if job.in_dag and not job.forgiven:
        text = f"{ends[1]} ends a good run as a failure, so the node fails"
        yield hit(ends[0], text, "|| true", severity=severity, source=script.source)
