"""JS322–JS327: what the shell does, and is not expected to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Edit, Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.variables import GIVEN
from jobsight.program.shell.model import Command
from jobsight.program.submission.job import Place

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
