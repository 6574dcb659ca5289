"""JS345–JS351: commands that work, and lose or miss what they are for."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.traces import Trace, absent, path_of, trace_of
from jobsight.program.preflight.uses import HARMLESS, uses_of
from jobsight.program.shell.model import Command, Word
from jobsight.program.submission.job import Place
from jobsight.text import one_slip

__all__: list[str] = []

_ARCHIVE = re.compile(r"[\"']?\S+\.(?:tar(?:\.\w+)?|t[gbx]z2?)[\"']?$")


@rule("JS345 A file is waited for, or read, under another name than it is written")
def _other_names(job: Job) -> Iterator[Hit]:
    """One slip away from a name that the script writes."""
    writes = [
        (use.word.value, command) for command in job.commands for use in uses_of(command)
        if use.kind in ("write", "make") and use.word.value and not use.word.is_glob
    ]  # fmt: skip
    written = {value for value, _ in writes if value}
    reads: list[tuple[Word, Command | None]] = [
        (use.word, command) for command in job.commands for use in uses_of(command)
        if use.kind == "read" and not (command.conditional and command.checked)
    ]  # fmt: skip
    set_to = re.findall(r"(?m)^[ \t]*(\w+)=[\"']?([\w./-]+)[\"']?\s*$", job.text)
    times = Counter(re.findall(r"\b(\w+)=", job.text))
    once = {name: value for name, value in set_to if times[name] == 1}
    text = re.sub(r"\$\{?(\w+)\}?", lambda m: once.get(m[1], m[0]), job.text)
    for number, line in enumerate(text.split("\n") if job.language == "bash" else (), 1):
        form = r"\b(?:until|while\s+!|while\s+\[\[?\s+!)\s*(?:\[\[?\s+)?-[efs]\s+[\"']?([\w./-]+)"
        reads += [(Word(m[1], m[1], Place(number)), None) for m in re.finditer(form, line)]
    asked = set(re.findall(r"-[efsr]\s+[\"']?([^\s\"'\]]+)", job.text))
    yield from _never_made(job, [word for word, command in reads if command is None])
    for word, command in reads:
        value = word.value or ""
        folder = command.folder if command else job.folder
        path = path_of(word, folder, job)
        if value in written or re.search(r"[*?\[]|\.(?:o|a|so|mod|x|exe)$", value):
            continue
        if path is None or job.machine.exists(path):
            continue
        if command and value in asked:
            continue
        base = os.path.basename(value)  # noqa: PTH119
        for other in sorted(written):
            same = os.path.dirname(other) == os.path.dirname(value)  # noqa: PTH120
            name = os.path.basename(other)  # noqa: PTH119
            plain = re.sub(r"\d", "", name) != re.sub(r"\d", "", base)
            alike = name.lower().replace("-", "_") == base.lower().replace("-", "_")
            if same and plain and len(base) > 3 and (one_slip(base, name) or alike):
                yield hit(word, f"{value} is not written: {other} is", other,
                          source=command.source if command else None)  # fmt: skip
                break


def _never_made(job: Job, awaited: list[Word]) -> Iterator[Hit]:
    """Files that are waited for while something runs, and that no text here names otherwise."""
    if not _all_is_known(job):
        return
    yield from _awaited_by_python(job)
    waits = {word.place.line for word in awaited}
    lines = enumerate(job.text.split("\n"), 1)
    others = [line for n, line in lines if n not in waits and not re.match(r"\s*(?:rm|#)", line)]
    named = "\n".join([*others, job.program_texts])
    for word in awaited:
        base = os.path.basename(word.value or "")  # noqa: PTH119
        ending = os.path.splitext(base)[1]  # noqa: PTH122
        path = path_of(word, job.folder, job)
        if path and (ending or base) not in named and not job.machine.exists(path):
            yield hit(word, f"nothing here makes {word.value}: it is waited for in vain")


def _all_is_known(job: Job) -> bool:
    """Whether something runs in the background, and all that runs is here to be read."""
    plain = HARMLESS | job.walk.functions | {"["}
    known = all(one.name in plain or job.program_of.get(id(one)) for one in job.commands)
    texts = len(job.sources) == len(job.walk.programs)
    return known and texts and any(one.background for one in job.commands)


def _awaited_by_python(job: Job) -> Iterator[Hit]:
    """Files that a loop of a Python program looks for, with an ending that nothing else names."""
    if job.blind or not job.machine.is_folder(job.folder):
        return
    here, texts = job.machine.listed(job.folder), f"{job.text}\n{job.program_texts}"
    for program, text in job.pythons:
        for name, call, around in text.calls if "sleep(" in text.text else ():
            looks = name in ("os.path.exists", "os.path.isfile")
            if not looks or not any(isinstance(one, ast.While) for one in around):
                continue
            parts = [one.value for one in ast.walk(call) if isinstance(one, ast.Constant)]
            ending = os.path.splitext(str(parts[-1]) if parts else "")[1]  # noqa: PTH122
            there = any(one.endswith(ending) for one in here)
            if ending and texts.count(ending) == 1 and not there:
                yield hit(call, f"nothing here makes a file *{ending}: it is waited for in vain",
                          source=program.source)  # fmt: skip


@rule("JS346 PATH is replaced")
def _path(job: Job) -> Iterator[Hit]:
    """Without the folders that it had, no further command is found."""
    for number, line in job.code if job.language == "bash" else ():
        found = re.match(r"\s*(?:export\s+)?PATH=([\"']?[^\s;\"']+)", line)
        if found is None or "$(" in line or re.search(r";|\s\w+\s*$", line):
            continue
        value = found[1].strip("\"'")
        if not re.search(r"\$\{?\w*PATH|(?:^|:)/(?:usr/)?bin(?:/?:|/?$)", value):
            yield hit(number, "the folders of PATH are lost: no command is found", f"{value}:$PATH")


@rule("JS347 The job ends itself before its last commands")
def _cancels(job: Job) -> Iterator[Hit]:
    """``scancel`` of its own number, with commands behind it."""
    own = [one for one in job.commands if one.source.file == job.source.file and one.words]
    for command in (one for one in own if one.name == "scancel"):
        words = " ".join(word.text for word in command.arguments)
        itself = re.search(r"\$\{?SLURM_(?:ARRAY_)?JOB_?ID\}?\"?(?:\s|$)", words)
        more = any(one.place > command.place and one.name not in ("echo", "exit") for one in own)
        other = re.search(r"-s\b|--signal|\}_|D_", words)
        sure = itself and more and not other and not command.conditional
        if sure:
            yield hit(command, "ends the job here: what follows does not run")


@rule("JS348 Results stay in a temporary folder that is removed")
def _left_behind(job: Job) -> Iterator[Hit]:
    """What is written after ``cd $TMPDIR``, and neither read nor copied afterwards."""
    made = r"^[ \t]*(?:export\s+)?(\w+)=[\"']?(?:\$\(mktemp -d|\$\{?(?:SLURM_)?TMPDIR|/tmp/)"
    temporary = {*re.findall(made, job.text, re.M), "TMPDIR", "SLURM_TMPDIR"}
    inside, gone = False, re.search(r"trap\s.*rm -\w*r|^[ \t]*rm -\w*r", job.text, re.M)
    last: Word | None = None
    for command in job.commands if job.is_slurm else ():
        if command.name in ("cd", "pushd", "popd"):
            text = command.arguments[0].text if command.arguments else ""
            named = re.match(r"[\"']?\$\{?(\w+)[^/]*$", text)
            inside = bool(named and named[1] in temporary)
        moved = command.name in ("cp", "mv", "rsync", "tar", "scp", "sbcast", "zip", "cat", "curl",
                                 "rclone", "gzip", "aws", "gsutil", "install", "find")  # fmt: skip
        if moved or command.name in job.walk.functions:
            last = None
        for use in uses_of(command) if inside and not command.substituted else ():
            relative = re.match(r"[\"']?[\w.-]+[\"']?$", use.word.text)
            if use.kind == "write" and relative and not command.piped:
                last = use.word
            elif use.kind == "read" and last is not None and use.word.text == last.text:
                last = None
    if last is not None and gone and not _copied_at_the_end(job):
        yield hit(last, f"{last.text} stays in the temporary folder, which is removed",
                  "cp it to $SLURM_SUBMIT_DIR")  # fmt: skip


def _copied_at_the_end(job: Job) -> bool:
    """Whether a function that ``trap`` names copies files."""
    form = r"^[ \t]*(?:function\s+)?(\w+)\s*(?:\(\))?\s*\{(.*?)\}\s*$"
    bodies = re.findall(form, job.text, re.M | re.S)
    return any(
        re.search(rf"^[ \t]*trap\b.*\b{name}\b", job.text, re.M)
        and re.search(r"\b(?:cp|mv|rsync|tar|scp|install)\b", body)
        for name, body in bodies
    )


@rule("JS349 A command of files that gets them in the wrong order, or the wrong kind")
def _wrong_files(job: Job) -> Iterator[Hit]:
    """``tar cf FOLDER ARCHIVE``; ``cp`` of files to no folder, of a folder without ``-r``."""
    for command, trace in trace_of(job):
        words = [one for one in command.arguments if not one.text.startswith("-")]
        options = "".join(one.text for one in command.arguments if one.text.startswith("-"))
        if command.contained or command.checked or job.blind:
            continue
        paths = [path_of(one, command.folder, job) for one in words]
        folders = [bool(p and (job.machine.is_folder(p) or p in trace.folders)) for p in paths]
        if command.name == "tar" and len(words) > 1:
            yield from _archived(command, words, trace, job)
        elif command.name in ("cp", "mv") and "-t" not in options and "T" not in options:
            target = paths[-1] if paths else None
            several = len(words) > 2 or any(one.is_glob for one in words[:-1])
            if several and len(words) > 1 and absent(target, trace, job, program=not trace.opaque):
                yield hit(words[-1], f"{words[-1].text} is not a folder: several files need one",
                          f"mkdir -p {words[-1].text}", source=command.source)  # fmt: skip
            recursive = re.search(r"[rRa]|recursive", options) or command.name == "mv"
            for word, folder in zip(words[:-1], folders, strict=False):
                if folder and not recursive:
                    yield hit(word, f"cp leaves out the folder {word.text}", "cp -r",
                              source=command.source)  # fmt: skip
        elif command.name == "rm" and not re.search(r"[rRd]", options):
            for word, folder in zip(words, folders, strict=True):
                if folder:
                    yield hit(word, f"rm does not remove the folder {word.text}", "rm -r")
        elif command.name == "mkdir" and "p" not in options:
            for word, path in zip(words, paths, strict=True):
                yield from _made(word, path, command, trace, job)


def _archived(command: Command, words: list[Word], trace: Trace, job: Job) -> Iterator[Hit]:
    flags = command.arguments[0].text
    at = int(flags == words[0].text)
    if "c" in flags and "f" in flags and not _ARCHIVE.match(words[at].text):
        wrong = [one for one in words[at + 1 :] if _ARCHIVE.match(one.text)]
        if wrong and absent(path_of(wrong[0], command.folder, job), trace, job):
            yield hit(words[at], f"the archive is named first: {wrong[0].text} is not there")


def _made(word: Word, path: str | None, command: Command, trace: Trace, job: Job) -> Iterator[Hit]:
    parent = os.path.dirname(path) if path else None  # noqa: PTH120
    removed = re.search(rf"\b(?:rm|mv)\b.*{re.escape(word.text)}", job.text)
    if path and job.machine.exists(path) and not (command.conditional or removed):
        severity: Severity | None = None if command.errexit else "warning"
        yield hit(word, f"{word.text} is there already: mkdir fails", "mkdir -p",
                  severity=severity, source=command.source)  # fmt: skip
    if parent and parent != command.folder and absent(parent, trace, job):
        yield hit(word, f"the folder of {word.text} is not there", "mkdir -p")


_OF_PROGRESS = re.compile(r"log|err|status|progress|tmp|temp|/dev/|state|lock|current|pid", re.I)


@rule("JS350 A file is written anew in every round of a loop", severity="warning")
def _overwritten(job: Job) -> Iterator[Hit]:
    """With ``>`` only what the last round writes is left, if the round does not use it."""
    for command in job.commands:
        if not command.loops or command.loops[-1].times == 1 or not command.words:
            continue
        loop = command.loops[-1]
        for one in command.redirects:
            target = one.target
            anew = one.operator in (">", ">|", "&>") and target.text[:1] != "&"
            if not anew or target.value is None:
                continue
            bare = target.text.strip("\"'")
            others = [c for c in job.commands if c is not command and loop in c.loops]
            if any(c.name in ("cd", "pushd") for c in others):
                continue  # each round in a folder of its own
            used = any(bare in word.text for c in others
                       for word in (*c.words, *(r.target for r in c.redirects)))  # fmt: skip
            perhaps = loop.endless or (command.conditional and loop.times is None)
            if not (used or perhaps or _OF_PROGRESS.search(bare)):
                yield hit(target, f"each round of the loop replaces {bare}", ">>, or > behind done",
                          source=command.source)  # fmt: skip


_TAKES_INPUT = frozenset({"ssh", "ffmpeg", "mplayer"})


@rule("JS351 A command in a loop takes the input that the loop reads")
def _stolen_input(job: Job) -> Iterator[Hit]:
    """``ssh``, ``srun`` and ``ffmpeg`` read all of it: the loop ends after its first round."""
    lines = job.text.split("\n")
    for command in job.commands:
        heads = ["".join(lines[loop.place.line - 1 : loop.place.line]) for loop in command.loops]
        reading = [one for one in heads if re.search(r"\bwhile\b.*\bread\b(?!.*-u)", one)]
        if not reading or command.source.file != job.source.file or command.background:
            continue
        name = command.bare
        launchers = [one for one in command.launchers if one.name in ("srun", "ssh")]
        takes = name in _TAKES_INPUT or bool(launchers)
        quiet = command.here or any(one.operator in ("<", "<<<") for one in command.redirects)
        quiet = quiet or any(
            re.match(r"-nostdin|-\w*n$", word.text) for word in command.arguments
        ) or any({"i", "input"} & one.options.keys() for one in launchers)  # fmt: skip
        if takes and not quiet:
            shown = launchers[0].name if launchers else name
            yield hit(launchers[0].place if launchers else command,
                      f"{shown} reads the rest of the list: the loop ends after one round",
                      f"{shown} ... < /dev/null", source=command.source)  # fmt: skip
