"""Options of sbatch: a script's directives, the environment, the command line, as Slurm reads them.

Sources: sbatch(1), "Options", "Input environment variables"; getopt_long(3) (unique beginnings of
long options count). The command line goes before the environment, that before the directives.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from jobsight import documents
from jobsight.program.known import KNOWN
from jobsight.program.submission.batchscript import directive_lines
from jobsight.program.submission.job import Origin, Place, Problem, Request, Setting, Submission
from jobsight.program.submission.times import parse_span
from jobsight.text import meant, wordlist

__all__ = ["OPTIONS", "array_size", "memory_mb", "read_sbatch", "read_submitted", "seconds"]

_WITH_VALUE: str = KNOWN["sbatch"]["with_value"]
_WITHOUT: str = KNOWN["sbatch"]["without"]
_OPTIONAL = "exclusive get-user-env nice no-kill:k parsable propagate"


def _table() -> tuple[dict[str, str], dict[str, str]]:
    kinds = {"value": _WITH_VALUE, "none": _WITHOUT, "optional": _OPTIONAL}
    words = [(word.partition(":"), kind) for kind, text in kinds.items() for word in text.split()]
    long = {name: kind for (name, _, _), kind in words}
    return long, {short: name for (name, _, short), _ in words if short}


OPTIONS, _SHORT = _table()
"""Long options of sbatch: whether they take a value, none, or perhaps one."""

_RENAMED: dict[str, str] = KNOWN["sbatch"]["renamed"]
"""Options of other schedulers, and beginnings that are not unique."""
_SYNONYMS = {"tasks-per-node": "ntasks-per-node"}
_VARIABLES = {
    "SBATCH_ARRAY_INX": "array", "SBATCH_TIMELIMIT": "time", "SBATCH_MEM_PER_NODE": "mem",
    **{f"SBATCH_{name.upper().replace('-', '_')}": name for name in wordlist(
        "account partition qos constraint exclusive gres gpus gpus-per-node gpus-per-task "
        "job-name mem-per-cpu mem-per-gpu output error input open-mode reservation signal "
        "export requeue no-requeue overcommit"
    )},
}  # fmt: skip
_TOKEN = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+|["'\\]\S*""")
_COUNTS = frozenset(name for name in OPTIONS if name.startswith(("cpus-per", "ntasks", "mincpus")))
_MOST_TASKS = 4_000_001
_CHOICES = {
    "mail-type": frozenset(
        {"NONE", "BEGIN", "END", "FAIL", "REQUEUE", "ALL", "INVALID_DEPEND", "STAGE_OUT"}
        | {"TIME_LIMIT", "TIME_LIMIT_90", "TIME_LIMIT_80", "TIME_LIMIT_50", "ARRAY_TASKS"}
    ),
    "hint": frozenset({"COMPUTE_BOUND", "MEMORY_BOUND", "MULTITHREAD", "NOMULTITHREAD", "HELP"}),
}


def read_sbatch(
    script: str, options: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Submission:
    """What a batch script asks for.

    Args:
        script: its text.
        options: of the call, as given to sbatch.
        environment: variables; those named ``SBATCH_…`` count.
    """
    problems: list[Problem] = []
    found: list[Setting] = []
    components = 1
    for one in directive_lines(script):
        words = [(m[0], Place(one.line, 8 + m.start())) for m in _TOKEN.finditer(one.text)]
        comment = next((k for k, (word, _) in enumerate(words) if word.startswith("#")), None)
        if [word for word, _ in words] in (["hetjob"], ["packjob"]):
            components += 1
        elif one.counts:
            given = list(_parse(words[:comment], "script", problems))
            if components == 1:
                found += given
            else:
                problems += [bad for setting in given for bad in _value_problems(setting)]
        elif words:
            text = one.text.strip()
            problems.append(Problem(Place(one.line), "late", text, None))
    for name, value in (environment or {}).items():
        if name in _VARIABLES:
            found.append(Setting(_VARIABLES[name], value, Place(1), "environment"))
    found += _parse([(word, Place(1)) for word in options], "command line", problems)
    settings = _in_force(found)
    for setting in settings.values():
        problems += _value_problems(setting)
    problems += _conflicts(settings)
    return Submission("slurm", settings, _request(settings), tuple(problems), components=components)


_SUBMITS = frozenset({"sbatch", "srun", "salloc"})


def read_submitted(job: documents.Submission) -> Submission:
    """What a job asked for, by its script, else its directives, and by its submit line."""
    directives = (f"#SBATCH {text}" for text in job.directives or ())
    try:
        words = shlex.split(job.line or "")
    except ValueError:
        words = []
    named = bool(words) and words[0].rpartition("/")[2] in _SUBMITS
    script = job.script or "\n".join(["#!/bin/sh", *directives])
    return read_sbatch(script, words[1:] if named else ())


def _in_force(found: Sequence[Setting]) -> dict[str, Setting]:
    """The last of each; one way to give memory replaces the others where the origin is another."""
    memory = {"mem", "mem-per-cpu", "mem-per-gpu"}
    settings: dict[str, Setting] = {}
    for one in found:
        if one.name in memory:
            for other in memory & settings.keys():
                if settings[other].origin != one.origin:
                    del settings[other]
        settings[one.name] = one
    return settings


def _parse(
    words: Sequence[tuple[str, Place]], origin: Origin, problems: list[Problem]
) -> Iterator[Setting]:
    """Options as getopt_long reads them."""
    rest = list(reversed(words))
    while rest:
        raw, place = rest.pop()
        word = re.sub(r"""["']|\\(.)""", lambda m: m[1] or "", raw)
        if raw.startswith(("'", '"')) and (len(raw) == 1 or raw[-1] != raw[0]):
            problems.append(Problem(place, "value", f"the quote in {raw[:20]} is not closed"))
            return
        if word == "--" or (origin == "command line" and not word.startswith("-")):
            return
        if not word.strip("\\ "):
            continue
        if not word.startswith("-") or word == "-":
            text = f"{word[:40]!r} does not belong to an option and is dropped"
            problems.append(Problem(place, "dropped", text))
            continue
        name, value = _split(word, place, problems)
        if name is None:
            if "=" not in word and rest and not rest[-1][0].startswith("-"):
                rest.pop()  # it may be the value of that option
            continue
        if value is None and OPTIONS[name] == "value":
            if not rest:
                problems.append(Problem(place, "value", f"--{name} needs a value"))
                continue
            value = rest.pop()[0].strip("\"'")
        yield Setting(name, value or "", place, origin)


def _split(word: str, place: Place, problems: list[Problem]) -> tuple[str | None, str | None]:
    """The name of an option and the value in the same word; name None: unknown, reported."""
    if not word.startswith("--"):
        if len(word) > 2 and word[1:].partition("=")[0] in OPTIONS:
            text = f"{word[:40]} is read as -{word[1]} with the value {word[2:40]}"
            problems.append(Problem(place, "value", text, f"-{word}"))
            return None, None
        name = _SHORT.get(word[1])
        if name is None:
            problems.append(Problem(place, "unknown", f"-{word[1]} is not an option of sbatch"))
        return name, word[2:] or None
    given, equals, value = word[2:].partition("=")
    longer = [one for one in (*OPTIONS, *_SYNONYMS) if one.startswith(given)] if given else []
    name = given if given in longer else longer[0] if len(longer) == 1 else None
    name = _SYNONYMS.get(name or "", name)
    if name is None:
        near = _RENAMED.get(given) or meant(given, OPTIONS)
        if near or longer:
            what = (
                f"may be any of --{', --'.join(longer)}" if longer else "is not an option of sbatch"
            )
            fix = f"--{near}{equals}{value}" if near else None
            problems.append(Problem(place, "unknown", f"--{given[:40]} {what}", fix))
        else:
            problems.append(Problem(place, "plug-in", f"--{given[:40]}"))
    return name, value if equals else None


def memory_mb(text: str) -> int | None:
    """MB (2^20 bytes) of ``--mem``; a bare number is MB; None: sbatch refuses it."""
    found = re.fullmatch(r"(\d{1,12})([KMGTkmgt]?)[Bb]?", text.strip(), re.ASCII)
    if found is None:
        return None
    power = {"k": -1, "": 0, "m": 0, "g": 1, "t": 2}[found[2].lower()]
    return math.ceil(int(found[1]) * 1024.0**power)


def seconds(text: str) -> int | None:
    """Seconds of ``--time``, −1: unlimited; None: sbatch refuses it."""
    if text == "-1":
        return -1
    try:
        span = parse_span(text)
    except ValueError:
        return None
    if span is None or "." in text:
        return None
    return -1 if math.isinf(span) else int(span)


def array_size(text: str) -> int | None:
    """The number of tasks of ``--array``; None: sbatch refuses it."""
    total = 0
    for part in re.sub(r"%\d*$", "", text).strip("[]").split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", part.strip(), re.ASCII)
        if found is None:
            return None
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if last < first or not step or last > _MOST_TASKS:
            return None
        total += (last - first) // step + 1
    return total


def _gpus(text: str) -> int | None:
    """GPUs of ``2``, ``a100``, ``a100:2`` or ``a100:1,v100:1``."""
    counts = [
        re.sub(r"^[A-Za-z][\w.-]*$", "1", part).rpartition(":")[2] for part in text.split(",")
    ]
    known = all(one.isascii() and one.isdecimal() for one in counts)
    return sum(map(int, counts)) if known else None


def _gres(text: str) -> bool | None:
    good = r"(?:gres[:/])?[\w.-]+(?::[\w.-]+)*(?:,(?:gres[:/])?[\w.-]+(?::[\w.-]+)*)*(?:\([^)]*\))?"
    return True if re.fullmatch(good, text) else None


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"0*[1-9]\d{0,8}", text, re.ASCII) else None


def _node_count(text: str) -> int | None:
    found = re.fullmatch(r"(\d{1,9})[km]?(?:-(\d{1,9})[km]?(?::\d+)?|,.*)?", text, re.ASCII)
    return int(found[1]) if found and int(found[1]) <= int(found[2] or found[1]) else None


def _most_nodes(text: str) -> int | None:
    """The largest number of ``2``, ``2-4``, ``2-16:4`` or ``2,4``."""
    return max(map(int, re.findall(r"\d+", text.partition(":")[0])), default=None)


_SIGNALS = "HUP|INT|QUIT|ABRT|KILL|PIPE|ALRM|TERM|CHLD|USR1|USR2|URG|CONT|STOP|TSTP|TTIN|TTOU"
_MOMENT = (
    r"(?:now|today|tomorrow|midnight|noon|elevenses|fika|teatime)(?:\+\d+\s*[a-z]*)?|\+\d+\s*[a-z]*"
    r"|(?:(?:\d{6}|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?|\d{4}-\d\d-\d\d)[T -]?)?"
    r"(?:\d{1,2}:\d\d(?::\d\d)?\s*(?:[ap]\.?m\.?)?)?"
)
_FORMS = {
    "begin": (_MOMENT, "such as now+1hour, 16:00 or 2030-01-20T12:34:00"),
    "deadline": (_MOMENT, "such as now+1hour, 16:00 or 2030-01-20T12:34:00"),
    "distribution": (r"(?:\*|block|cyclic|arbitrary|plane(?:=\d+)?)(?::(?:\*|f?cyclic|block)){0,2}"
                     r"(?:,(?:no)?pack)?|(?:no)?pack", "such as block:cyclic"),
    "open-mode": ("[at].*", "append or truncate"),
    "signal": (rf"(?:[RB]+:)?(?:\d+|(?:SIG)?(?:{_SIGNALS}))(?:@\d+)?", "such as B:USR1@120"),
    "nice": (r"-?\d*", "a whole number"), "priority": (r"\d+|TOP", "a number"),
    "exclusive": (r"(?:user|mcs|topo|true)?", "user, mcs or nothing"),
    "switches": (r"\d+(?:@[\d:-]+)?", "a number"), "core-spec": (r"\d+", "a number"),
    "wait-all-nodes": ("[01]", "0 or 1"), "kill-on-invalid-dep": ("yes|no", "yes or no"),
    "threads-per-core": (r"\d+", "a number"), "licenses": (r"[\w@.:,;|/()-]+", "name:number"),
    "chdir": (r".+", "a folder"), "partition": (r"[^\s,;]+(?:,[^\s,;]+)*", "names, with commas"),
}  # fmt: skip
_READERS: dict[str, tuple[Callable[[str], object], str]] = {
    **dict.fromkeys(("mem", "mem-per-cpu", "mem-per-gpu", "tmp"),
                    (memory_mb, "a whole number with K, M, G or T, such as 4G")),
    **dict.fromkeys(("time", "time-min"),
                    (seconds, "minutes, MM:SS, HH:MM:SS or D-HH:MM:SS, such as 02:00:00")),
    **dict.fromkeys(_COUNTS, (_count, "a whole number from 1")),
    "array": (array_size, "numbers from 0, first-last, :step and %most, such as 1-10:2%4"),
    "nodes": (_node_count, "a number or a range, such as 2 or 2-4"),
    **dict.fromkeys(("gpus", "gpus-per-node", "gpus-per-task"),
                    (_gpus, "[type:]number, such as a100:2")),
    "gres": (_gres, "name[:type][:number], such as gpu:a100:2"),
}  # fmt: skip


def _value_problems(one: Setting) -> Iterator[Problem]:
    """What sbatch would refuse of a value; those that the shell is to fill in are not judged."""
    shown = f"--{one.name}={one.value[:40]}"
    if "$" in one.value and one.name not in ("job-name", "wrap", "comment"):
        if one.origin == "script":
            text = f"{shown}: variables are not expanded in directives"
            yield Problem(one.place, "variable", text)
        return
    if one.name in _READERS and _READERS[one.name][0](one.value) is None:
        fix = f"give {_READERS[one.name][1]}"
        yield Problem(one.place, "value", f"sbatch refuses {shown}", fix)
    elif one.name in _FORMS and not re.fullmatch(_FORMS[one.name][0], one.value, re.I):
        yield Problem(one.place, "value", f"sbatch refuses {shown}", f"give {_FORMS[one.name][1]}")
    elif one.name in _CHOICES:
        words = one.value.upper().split(",")
        wrong = [word for word in words if word and word not in _CHOICES[one.name]]
        if wrong or not any(words):
            near = meant(wrong[0] if wrong else "", _CHOICES[one.name])
            listed = ", ".join(sorted(_CHOICES[one.name]))
            fix = f"--{one.name}={near}" if near else f"one of {listed}"
            yield Problem(one.place, "value", f"sbatch refuses {shown}", fix)
    elif one.name == "dependency" and not re.fullmatch(
        r"(?:(?:after|afterany|afterburstbuffer|aftercorr|afternotok|afterok)(?::\d+\w*(?:\+\d+)?)+"
        r"|singleton|expand:\d+)(?:[,?].*)?", one.value
    ):  # fmt: skip
        yield Problem(one.place, "value", f"sbatch refuses {shown}", "such as afterok:123")
    elif one.value.startswith("=") and one.name != "job-name":
        text = f"{shown}: a short option takes its value without ="
        yield Problem(one.place, "value", text, f"--{one.name}{one.value}")


def _conflicts(settings: Mapping[str, Setting]) -> Iterator[Problem]:
    ways = [settings[name] for name in ("mem", "mem-per-cpu", "mem-per-gpu") if name in settings]
    if len(ways) > 1:
        text = " and ".join(f"--{one.name}" for one in ways)
        last = max(one.place for one in ways)
        yield Problem(last, "conflict", f"sbatch refuses {text} together", f"keep --{ways[0].name}")
    if "gpus-per-task" in settings and not {"ntasks", "gpus", "nodes"} & settings.keys():
        place, text = settings["gpus-per-task"].place, "--gpus-per-task needs --ntasks or --gpus"
        yield Problem(place, "conflict", text, "#SBATCH --ntasks=1")
    request = _request(settings)
    if {"ntasks", "nodes"} <= settings.keys() and request.nodes > request.tasks:
        text = f"{request.tasks} tasks do not use {request.nodes} nodes: sbatch takes fewer"
        yield Problem(settings["nodes"].place, "nodes", text, f"--nodes={request.tasks}")
    if {"ntasks", "nodes", "ntasks-per-node"} <= settings.keys():
        each = _count(settings["ntasks-per-node"].value) or 1
        most = request.most_nodes
        if most and request.tasks > each * most:
            text = f"--ntasks={request.tasks} is more than {most} nodes × {each} tasks per node"
            yield Problem(settings["ntasks"].place, "tasks", text, f"--ntasks={each * most}")


def _request(settings: Mapping[str, Setting]) -> Request:
    def read(name: str, reader: Callable[[str], int | None]) -> int | None:
        return reader(settings[name].value) if name in settings else None

    nodes = read("nodes", _node_count) or 1
    each = read("ntasks-per-node", _count) or 1
    given = read("ntasks", _count)
    tasks = given or each * nodes
    most = read("nodes", _most_nodes) or (None if tasks > 1 and given else 1)
    if given:  # --ntasks-per-node is only the most of a node then
        each = -(-given // most) if most else 1
    cpus_each = read("cpus-per-task", _count) or 1
    gres = settings["gres"].value if "gres" in settings else ""
    named = re.search(r"(?:^|,)(?:gres[:/])?gpu(?::[^,:]+)*?(?::(\d+))?(?=,|\(|$)", gres)
    on_each = read("gpus-per-node", _gpus) or (int(named[1] or 1) if named else None)
    per_task = read("gpus-per-task", _gpus)
    gpus = read("gpus", _gpus) or (on_each and on_each * nodes) or (per_task and per_task * tasks)
    sizes = {"mem": nodes, "mem-per-cpu": tasks * cpus_each, "mem-per-gpu": gpus or 1}
    amounts = {name: read(name, memory_mb) for name in sizes}
    total = [amount * sizes[name] for name, amount in amounts.items() if amount]
    least = {"mem": 1, "mem-per-cpu": each * cpus_each, "mem-per-gpu": on_each or 1}
    needed = [amount * least[name] for name, amount in amounts.items() if amount]
    return Request(
        nodes=nodes,
        most_nodes=most,
        tasks=tasks,
        node_tasks=each,
        cpus_per_task=cpus_each,
        gpus=gpus,
        memory_mb=total[0] if total else None,
        node_memory_mb=-(-total[0] // nodes) if total else amounts["mem"],
        needed_memory_mb=needed[0] if needed else amounts["mem"],
        time_s=read("time", seconds),
        array=read("array", array_size),
    )
