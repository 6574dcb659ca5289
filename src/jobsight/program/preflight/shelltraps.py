"""JS322–JS330, JS345–JS351, JS362: what the shell does, and is not expected to."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator

from jobsight.program.preflight.files import HARMLESS, Trace, absent, path_of, trace_of, uses_of
from jobsight.program.preflight.findings import Edit, Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.variables import GIVEN
from jobsight.program.shell.model import Command, Word
from jobsight.program.submission.job import Place
from jobsight.text import one_slip

__all__: list[str] = []


@rule("JS322 A folder is emptied that may not have been entered")
def _rm_after_cd(job: Job) -> Iterator[Hit]:
    """Where ``cd`` fails, ``rm -rf *`` empties the folder that the script is in."""
    entered = None
    for command in job.commands:
        if command.name in ("cd", "pushd"):
            value = command.arguments[0].value if command.arguments else None
            sure = value and job.machine.is_folder(value)
            sure = sure or "mktemp" in "".join(one.text for one in command.arguments)
            entered = None if sure or command.checked or command.errexit else command
        elif command.name == "rm" and entered is not None and not command.conditional:
            words = [word.text for word in command.arguments]
            deep = any(re.fullmatch(r"-\w*[rR]\w*", word) for word in words)
            if deep and {"*", "./*", ".", "./"} & set(words):
                message = "where cd fails, this empties the folder of the submission"
                yield hit(command, message, "cd ... || exit 1")


@rule("JS323 Commands that are never reached")
def _unreached(job: Job) -> Iterator[Hit]:
    """``exec`` replaces the shell, ``exit`` ends it: what follows does not run."""
    for source, place, why in job.walk.unreached:
        line = source.text.split("\n")[place.line - 1 : place.line]
        if why == "exec":
            message = "exec replaced the shell: nothing from here on runs"
            yield hit(place, message, "leave out exec", source=source)
        elif line and not re.match(r"\s*(?:exit|echo|__|:)", line[0]):
            message = "the script has ended by exit: nothing from here on runs"
            yield hit(place, message, severity="warning", source=source)


@rule("JS324 A variable of the script in a quoted here-document")
def _quoted_here(job: Job) -> Iterator[Hit]:
    """Behind ``<<'EOF'`` nothing is filled in: the program gets the name."""
    texts = {
        id(source): source for one, source in job.sources
        if one.language in ("python", "r", "julia", "c", "fortran", "matlab")
    }  # fmt: skip
    texts |= {
        id(one.here): one.here
        for one in job.commands
        if one.here is not None
        and one.name == "cat"
        and one.here.file == job.source.file
        and any(
            re.search(r"\.(?:nml|in|inp|cfg|ini|json|ya?ml|mdp|txt|conf|toml)\"?$", r.target.text)
            for r in one.redirects
        )
    }
    for source in texts.values():
        if not source.exact or source.file != job.source.file or not source.first:
            continue
        if "Template(" in source.text or "environ" in source.text:
            continue
        for found in re.finditer(r"(?<![\w)\]])\$(?:\{(?=\w+\}))?([A-Za-z_]\w*)\}?", source.text):
            before = source.text[: found.start()].rpartition("\n")[2]
            if "{" in found[0] and re.search(r"\bf\"|\bf'", before):
                continue  # the program's own f"${price}"
            if found[1] in job.walk.assigned or re.match(r"SLURM_[A-Z_]+$", found[1]):
                message = f"${found[1]} is not filled in: the here-document is quoted"
                fix = "<<EOF without quotes, or os.environ after export"
                yield hit(found, message, fix, source=source)
                break


_FILLED = re.compile(r"\.(?:pl|R|r|awk|sh|sbatch|py|jl|m|tcl)[\"']?$")


@rule("JS330 A here-document in which the shell fills in what is the program's own")
def _filled_here(job: Job) -> Iterator[Hit]:
    """``$name`` that the script does not set becomes nothing, unless the mark is quoted."""
    for command in job.commands:
        here, name = command.here, command.bare
        targets = [one.target.text for one in command.redirects]
        written = name in ("cat", "tee") and any(map(_FILLED.search, targets))
        if here is None or here.exact or not (written or name in ("perl", "Rscript", "R", "awk")):
            continue
        for found in re.finditer(r"(?<!\\)\$\{?([A-Za-z_]\w*)", here.text):
            if found[1] not in job.walk.assigned and not GIVEN.fullmatch(found[1]):
                message = f"the shell fills in ${found[1]}, which nothing sets"
                yield hit(found, message, "<<'EOF'", source=here)
                break
        fields = name == "awk" or any(re.search(r"\.awk[\"']?$", one) for one in targets)
        mixed = fields and re.search(r"\\\$[0-9]", here.text)
        for found in re.finditer(r"(?<!\\)\$[1-9]\b", here.text if mixed else ""):
            yield hit(found, f"the shell fills in {found[0]}", f"\\{found[0]}", source=here)


@rule("JS325 A test of a variable that nothing sets")
def _empty_tests(job: Job) -> Iterator[Hit]:
    """``[ = yes ]`` is an error of the test, which counts as false."""
    if job.language != "bash" or any(one.environment.opaque for one in job.commands):
        return
    for number, line in job.code:
        form = r"(?:^|[\s;&|])\[\s+(?:!\s+)?\$\{?(\w+)\}?\s+(?:=|==|!=|-(?:eq|ne|lt|gt|le|ge))\s"
        found = re.search(form, line)
        if found is None or any(line[: found.start()].count(one) % 2 for one in "\"'"):
            continue
        if found[1] not in job.walk.assigned and not GIVEN.fullmatch(found[1]):
            # The caller of a batch script may set it.
            severity: Severity | None = None if job.executable else "warning"
            message = f"nothing here sets {found[1]}: where it is not set, the test is an error"
            yield hit(Place(number, found.start(1) + 1), message, f'[ "${{{found[1]}:-}}" ... ]',
                      severity=severity)  # fmt: skip


@rule("JS326 A command that ends a script with set -e although nothing failed")
def _errexit_traps(job: Job) -> Iterator[Hit]:
    """``((n++))`` has status 1 where n was 0; ``n=$(grep -c …)`` where nothing matched."""
    errexit = False
    zero: set[str] = set()
    for number, line in enumerate(job.text.split("\n"), 1):
        if number in job.here_lines:
            continue
        text = line.strip()
        if re.match(r"set\s+-\w*e|set\s+-o\s+errexit", text) or re.match(r"#!\S+sh\s+-\w*e", text):
            errexit = True
        elif re.match(r"set\s+\+\w*e", text):
            errexit = False
        zero |= {found[1] for found in re.finditer(r"(?:^|[\s;])(\w+)=0(?:$|[\s;])", line)}
        counted = re.search(
            r"(?:^|[;{]|\bdo\b|\bthen\b)\s*(?:\(\(\s*(\w+)\s*\+\+\s*\)\)|let\s+(\w+)\+\+)\s*(?:;|$|\})",
            line,
        )
        if errexit and counted and (counted[1] or counted[2]) in zero:
            name = counted[1] or counted[2]
            message = f"ends the script where {name} is 0: set -e"
            yield hit(Place(number, counted.start() + 1), message, f"{name}=$(({name} + 1))")
        if errexit and re.search(r"^(?:let\s+\w+=0|\(\(\s*\w+\s*=\s*0\s*\)\))$", text):
            yield hit(number, "0 as the result of arithmetic ends the script: set -e", "name=0")
        if errexit and re.match(r"\w+=\"?\$\(\s*grep\s+(?:-\w+\s+)*-\w*c[^|]*\)\"?$", text):
            message = "grep -c ends the script where nothing matches: set -e"
            yield hit(number, message, "|| true", severity="warning")


@rule("JS327 A blank behind the backslash at the end of a line")
def _blank_after_backslash(job: Job) -> Iterator[Hit]:
    """The command ends there, with a blank as its last word; the next line is a command too."""
    lines = [*job.text.split("\n"), ""]
    for number, line in job.code if job.language == "bash" else ():
        if re.search(r"(?<!\\)\\[ \t]+$", line) and lines[number].strip():
            message = "a blank follows the backslash: the command ends here"
            place, edit = Place(number, len(line.rstrip())), Edit(number, line, line.rstrip())
            yield hit(place, message, "end the line with the backslash", edit=edit)


@rule("JS328 Words where the output of a command is meant")
def _words_for_output(job: Job) -> Iterator[Hit]:
    """``for k in seq 1 5`` runs with the words seq, 1 and 5, ``for k in 1..5`` once."""
    for number, line in job.code if job.language == "bash" else ():
        found = re.match(r"\s*for\s+\w+\s+in\s+((?:seq|ls|cat|find)\s[^;$`]*)", line)
        span = re.match(r"\s*for\s+\w+\s+in\s+(\d+\.\.\d+|\{[\w.]*\$\w+[\w.$]*\})\s*(?:;|$)", line)
        if span is not None and ".." in span[1]:
            first, _, last = span[1].strip("{}").partition("..")
            yield hit(number, f"{span[1]} is one word: the loop has one round",
                      f"$(seq {first} {last})")  # fmt: skip
        elif found is not None:
            inner = found[1].strip()
            yield hit(number, f"{inner[:30]!r} is not run here: its words are taken", f"$({inner})")


@rule("JS329 conda activate where conda is not set up", severity="warning")
def _conda(job: Job) -> Iterator[Hit]:
    """A batch script does not read .bashrc, where ``conda init`` defines it."""
    if not job.is_slurm or re.search(r"^#!\S*sh\s+.*(?:-\w*l|-i|--login)", job.text):
        return
    for command in job.commands:
        words = [word.text for word in command.arguments[:1]]
        if command.name in ("conda", "mamba") and words == ["activate"]:
            if not (command.environment.opaque or command.checked or _hooked(command, job)):
                fix = 'eval "$(conda shell.bash hook)"'
                yield hit(command, f"{command.name} activate needs its hook in a batch job", fix)
            return


def _hooked(command: Command, job: Job) -> bool:
    """Whether a module of conda is loaded that may set the hook: its text is not known, or does."""
    for word in command.environment.modules:
        if re.search(r"(?i)conda|mamba|forge", word.text):
            text = job.site.module_text(word.value or "") if job.site else None
            if text is None or re.search(r"conda\.sh|hook|shell.function|source.sh|activ", text):
                return True
    return False


_SUBMITTED = re.compile(
    r"^[ \t]*(?:export\s+|local\s+|declare\s+)?(\w+)=[\"']?(?:\$\(|`)\s*sbatch\b([^\n|]*)$", re.M
)


@rule("JS362 The sentence of sbatch where the number of a job is meant")
def _sentence(job: Job) -> Iterator[Hit]:
    """``sbatch`` prints "Submitted batch job 4711", with ``--parsable`` the number alone."""
    for found in _SUBMITTED.finditer(job.text):
        name = found[1]
        once = len(re.findall(rf"\b{name}=|\bread\b.*\b{name}\b", job.text)) == 1
        form = rf"(?:--dependency[= ]|-d ?)[\w:,?\"']*\$(?:{name}\b|\{{{name}\}})"
        used = re.search(form, job.text[found.end() :])
        if used is not None and once and "--parsable" not in found[2]:
            line = job.text.count("\n", 0, found.end() + used.start()) + 1
            yield hit(line, f"{name} is a sentence of sbatch, not a number", "sbatch --parsable")


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
            flags = command.arguments[0].text
            at = int(flags == words[0].text)
            if "c" in flags and "f" in flags and not _ARCHIVE.match(words[at].text):
                wrong = [one for one in words[at + 1 :] if _ARCHIVE.match(one.text)]
                if wrong and absent(path_of(wrong[0], command.folder, job), trace, job):
                    yield hit(
                        words[at], f"the archive is named first: {wrong[0].text} is not there"
                    )
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
