"""JS1xx: what is not there when the job starts.

A path is judged only where it is known, where this machine has the folder that it should be in,
and where nothing before it in the script can have made it.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator

from jobsight.program.known import KNOWN
from jobsight.program.preflight.files import (
    BUILDS,
    BUILTINS,
    HARMLESS,
    Trace,
    Use,
    absent,
    path_of,
    said,
    siblings,
    text_here,
    trace_of,
    uses_of,
)
from jobsight.program.preflight.findings import Edit, Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.pythonfiles import not_executable
from jobsight.program.shell.model import Command, Program, Source, Word
from jobsight.program.shell.programs import interpreter_of, other_language
from jobsight.text import closest, one_slip, wordlist

__all__ = ["named_in_lists"]

_COMMON = wordlist(KNOWN["missing"]["common"])
_KEYWORDS = wordlist("else elif then done esac")
_CLUSTER = re.compile(
    r"s(?:run|batch|cancel|queue|info|acct|stat|alloc|bcast|attach)|scontrol|condor_\w+|mpi\w+|module|ml|"
    r"nvidia-smi|apptainer|singularity|conda|mamba|micromamba|spack|R|Rscript|julia|matlab|octave|lmod|"
    r"python[\d.]*|pip[\d.]*|nvcc|ifort|icc|icpc|ibrun|aprun|jsrun|lfs|sacctmgr|javac?|perl|docker|podman"
)


@rule("JS101 An input file is not there")
def _input_files(job: Job) -> Iterator[Hit]:
    """What standard commands and redirections read, unless it may be made before."""
    if job.blind:
        return
    yield from named_in_lists(job)
    for command, trace in trace_of(job):
        if command.conditional or command.contained or command.folder is None:
            continue
        for use in uses_of(command):
            if use.kind != "read" or (command.checked and _handled(command, job)):
                continue
            path = path_of(use.word, command.folder, job)
            if path and absent(path, trace, job):
                yield hit(use.word, *said(path, use.word), source=command.source)
            elif use.word.is_glob and _matches_nothing(use.word, command, trace, job):
                skipped = re.search(r"nullglob", job.text)
                if not skipped or command.name == "for":
                    severity: Severity | None = "warning" if skipped else None
                    message = f"no file matches {use.word.text[:60]}"
                    yield hit(use.word, message, severity=severity, source=command.source)


def _matches_nothing(word: Word, command: Command, trace: Trace, job: Job) -> bool:
    """Whether a pattern surely matches no file: its folder is here, and nothing writes there."""
    value = word.value or ""
    front, _, last = value.rpartition("/")
    if not last or re.search(r"[*?\[{]", front) or "{" in value:
        return False
    if trace.built or trace.opaque or trace.blurred:
        return False
    if re.search(r"failglob|\[\[? -[efs] |compgen|extglob", job.text):
        return False
    folder = job.machine.resolve(os.path.normpath(os.path.join(command.folder or "", front)))  # noqa: PTH118
    if not job.machine.is_folder(folder):
        return absent(folder, trace, job)
    if any(one.startswith(f"{folder}/") for one in trace.made):
        return False
    return not fnmatch.filter(job.machine.listed(folder), last)


def _handled(command: Command, job: Job) -> bool:
    """Whether the script goes on where a checked command fails."""
    line = job.text.split("\n")[command.place.line - 1 : command.place.line]
    return not (line and re.search(r"\|\|\s*(?:exit|\{[^}]*exit|die|return)", line[0]))


@rule("JS102 A program or script to be run is not there")
def _program_files(job: Job) -> Iterator[Hit]:
    """Scripts given to interpreters, and programs named by their paths."""
    if job.blind:
        return
    for command, trace in trace_of(job):
        program = job.program_of.get(id(command))
        yield from _images(command, trace, job)
        if program is None:
            continue
        if program.source is None and program.word is not None and _module_lacks(program, job):
            message = f"there is no module {program.word.value}"
            yield hit(program.word, message, source=command.source)
        if program.source is not None or program.word is None:
            continue
        path = None if (program.path or "\0").startswith("\0") else program.path
        if command.conditional or command.contained or command.checked or path is None:
            continue
        if program.word.text.startswith("-") or program.word.is_glob:
            continue
        if absent(path, trace, job, program=True):
            yield hit(program.word, *said(path, program.word), source=command.source)


def _module_lacks(program: Program, job: Job) -> bool:
    """Whether ``python -m package.module`` names a package that is here and lacks the module."""
    package, _, module = (program.word.value or "").partition(".") if program.word else ("", "", "")
    folder = f"{program.command.folder or job.folder}/{package}"
    own = module and job.machine.exists(job.machine.resolve(f"{folder}/__init__.py"))
    inner = job.machine.resolve(f"{folder}/{module.replace('.', '/')}")
    plain = program.path is None and any(w.text == "-m" for w in program.command.words)
    there = any(job.machine.exists(inner + end) for end in (".py", "", ".so"))
    return bool(own and plain) and not there


def _images(command: Command, trace: Trace, job: Job) -> Iterator[Hit]:
    """Images of containers that are files."""
    for one in command.launchers:
        image = one.options.get("image", "")
        file = re.search(r"\.(?:sif|simg|img)$|^\./", image)
        if file and "://" not in image and "$" not in image:
            word = Word(image, image, one.place)
            path = path_of(word, command.folder, job)
            if not command.conditional and absent(path, trace, job):
                message, fix = said(path or "", word)
                yield hit(one, f"the image {message}", fix, source=command.source)


@rule("JS115 A program is given to the interpreter of another language")
def _other_interpreters(job: Job) -> Iterator[Hit]:
    """By the ending of its name."""
    for program in job.walk.programs:
        word, language = program.word, interpreter_of(program.interpreter)
        other = other_language(word, language) if word is not None and language else None
        if word is not None and other:
            message = f"{program.interpreter} does not run {other}"
            yield hit(word, message, source=program.command.source)


@rule("JS103 A command is not known")
def _commands_known(job: Job) -> Iterator[Hit]:
    """Misspelt names of common commands; what only a module that is not loaded provides."""
    modules = job.site.modules if job.site is not None else None
    asking = re.finditer(r"\b(?:command -v|type|which|hash|alias)\b(.*)", job.text)
    asked_for = {word for one in asking for word in re.findall(r"[\w.+-]*\w", one[1])}
    for command in job.commands:
        name = command.name
        if job.language != "bash" and command.source.file == job.source.file:
            continue  # the interpreter of the first line: its module may be loaded already
        if not name or "/" in name or name in BUILTINS or name in job.walk.functions:
            continue
        if id(command) in job.compiled:
            continue
        perhaps = command.conditional and command.checked
        if command.contained or perhaps or job.machine.command(name):
            continue
        if not re.fullmatch(r"[\w.+-]+", name) or name == "alias":
            continue
        asked = name in asked_for
        bare = not command.arguments and not command.redirects
        word = next((w for w in _KEYWORDS if one_slip(name, w)), None) if bare else None
        near = word or (None if asked else _misspelt(name, modules or frozenset()))
        own = [one for one in job.walk.functions if len(one) > 3 and one_slip(name, one)]
        near = near or (own[0] if own and not command.checked else None)
        if near is not None:
            message = f"{name}: command not found"
            yield hit(command.words[0], message, near, source=command.source)
        elif modules and not command.environment.opaque:
            loaded = {(word.value or "?").split("/")[0] for word in command.environment.modules}
            of = _OF_MODULES.get(name, name)
            named = (
                not command.checked
                if of == name
                else re.search(rf"\b(?:module|ml)\b.*\s{of}(?:/|\s|$)", job.text, re.M)
            )
            if of in modules and named and of not in loaded and not loaded & {"?"}:
                message = f"{name}: command not found: its module is not loaded"
                yield hit(command.words[0], message, f"module load {of}", source=command.source)


_OF_MODULES = {"Rscript": "R", "gmx": "gromacs", "gmx_mpi": "gromacs", "lmp": "lammps",
               "blastn": "blast", "blastp": "blast", "nvcc": "cuda"}  # fmt: skip


def _misspelt(name: str, modules: frozenset[str]) -> str | None:
    """The common command, or that of a module, that a name is one slip away from.

    A name that begins otherwise is another command: mail and tail, gmake, cython, usleep.
    """
    if _CLUSTER.fullmatch(name) or len(name) < 4 or name in modules:
        return None
    provided = sorted(one for one in modules if len(one) > 5 and one.isalnum())
    near = (one for one in (*_COMMON, *provided) if len(one) > 3 and one_slip(name, one))
    alike = (one for one in near if one[0] == name[0] or set(one[:2]) == set(name[:2]))
    return next(alike, None)


@rule("JS104 A folder to write into is not there")
def _output_folders(job: Job) -> Iterator[Hit]:
    """Folders of redirections, and folders entered by ``cd``."""
    for command, trace in trace_of(job):
        if command.conditional or command.contained or command.checked:
            continue
        for use in uses_of(command):
            yield from _folder_hit(use, command, trace, job)


_WRITES_TO = frozenset({"cp", "mv", "tee", "touch", "tar"})
"""Commands that make no folder for what they write."""


def _folder_hit(use: Use, command: Command, trace: Trace, job: Job) -> Iterator[Hit]:
    path = path_of(use.word, command.folder, job)
    front = re.fullmatch(r"\"?([\w./-]*[\w-])/[^/]*", use.word.text)
    if path is None and front and "$" in use.word.text:  # logs/run_$ID.txt
        named = use.word._replace(text=f"{front[1]}/x", value=f"{front[1]}/x")
        use, path = use._replace(word=named), path_of(named, command.folder, job)
    if path is None or job.blind:
        return
    sure = not (trace.opaque or trace.unnamed)  # what is written is no folder
    if use.kind == "folder" and absent(path, trace, job, program=sure):
        message, fix = said(path, use.word)
        yield hit(use.word, message, fix or f"mkdir -p {use.word.value}", source=command.source)
    parent = os.path.dirname(path)  # noqa: PTH120
    into = command.name in _WRITES_TO or any(
        use.word.place == one.target.place for one in command.redirects
    )
    lost = parent != job.folder and absent(parent, trace, job, program=sure)
    if use.kind == "write" and into and lost:
        folder = os.path.dirname(use.word.value or "")  # noqa: PTH120
        message = f"the folder {folder} is not there"
        yield hit(use.word, message, f"mkdir -p {folder}", source=command.source)


@rule("JS105 The folder of --output or --error is not there")
def _log_folders(job: Job) -> Iterator[Hit]:
    """Slurm does not make the folder: the job fails without a word, before its first command."""
    if not job.is_slurm:
        return
    for name in ("output", "error"):
        setting = job.submission.settings.get(name)
        folder = os.path.dirname(setting.value) if setting else ""  # noqa: PTH120
        if setting is None or not folder or "%" in folder or "$" in folder:
            continue
        path = job.machine.resolve(os.path.normpath(os.path.join(job.folder, folder)))  # noqa: PTH118
        if not absent(path, Trace(), job):
            if job.machine.is_folder(path) and not job.machine.may(path, 2):
                yield hit(setting, f"nothing may be written to {folder}")
            continue
        edit = Edit(None, "", "", folder=path)
        message = f"{folder} is not there: Slurm fails the job and writes no log"
        yield hit(setting, message, f"mkdir -p {folder} before sbatch", edit=edit)


@rule("JS106 A module is not there")
def _modules_known(job: Job) -> Iterator[Hit]:
    """Against the module files of the site."""
    known = (job.site.modules if job.site is not None else None) or frozenset()
    called = [(one.name, *(word.text for word in one.arguments[:1])) for one in job.commands]
    if ("module", "use") in called:
        return
    seen: set[str] = set()
    for command in job.commands:
        if command.name not in ("module", "ml") or command.conditional:
            continue
        if command.checked and _handled(command, job):
            continue
        if any(one.target.text == "/dev/null" for one in command.redirects):
            continue
        plain = [word for word in command.arguments if not word.text.startswith("-")]
        verb = plain[0].text if plain else ""
        slip = [one for one in ("load", "purge", "unload", "switch") if one_slip(verb, one)]
        if slip and command.name == "module":
            yield hit(plain[0], f"module has no command {verb}", slip[0], source=command.source)
        loads = plain[1:] if verb in ("load", "add") else plain if command.name == "ml" else []
        if command.name == "ml" and verb in ("purge", "list", "use", "unload", "avail", "spider"):
            continue
        for word in loads:
            name = word.value
            if name and known and name not in known and name not in seen and not word.is_glob:
                seen.add(name)
                near = closest(name, known)
                fix = f"module load {near}" if near else None
                yield hit(word, f"there is no module {name}", fix, source=command.source)


def _unwritable(job: Job, changed: set[str | None]) -> Iterator[Hit]:
    """Files that are redirected into, and that root alone may write."""
    for command, trace in trace_of(job) if not job.blind else ():
        for one in command.redirects if not (command.contained or command.conditional) else ():
            path = path_of(one.target, command.folder, job) if ">" in one.operator else None
            if path is None or path in changed or path in trace.gone or path.startswith("/dev/"):
                continue
            there = job.machine.exists(path) and not job.machine.is_folder(path)
            if there and not job.machine.may(path, 2):
                text = f"{one.target.value} may not be written: permission denied"
                yield hit(one.target, text, f"chmod u+w {one.target.value}", source=command.source)


@rule("JS108 A program may not be run, or a file not be read")
def _rights(job: Job) -> Iterator[Hit]:
    """Programs named by path without the right to execute, unless ``chmod`` comes first."""
    changes = [one for one in job.commands if one.name == "chmod"]
    if any(word.value is None or word.is_glob for one in changes for word in one.arguments):
        return
    changed = {path_of(word, one.folder, job) for one in changes for word in one.arguments}
    yield from _unwritable(job, changed)
    yield from not_executable(job, changed)
    for program in job.walk.programs:
        path, word = program.path, program.word
        if path is None or word is None or path.startswith("\0") or path in changed:
            continue
        if program.interpreter or program.command.contained:
            continue
        message = None
        if not job.machine.exists(path):
            if path in job.walk.made:
                message = f"{word.value} is written here without the right to execute"
        elif path not in job.walk.made and job.machine.is_folder(path):
            yield hit(word, f"{word.value} is a folder", source=program.command.source)
        elif path not in job.walk.made and not job.machine.may(path, 1):
            message = f"{word.value} may not be executed: permission denied"
        if message is not None:
            yield hit(word, message, f"chmod +x {word.value}", source=program.command.source)


_LOOP = re.compile(
    r"(?ms)^[ \t]*while\s+(?:IFS=(\S*)\s+)?read\s+(?:-r\s+)?([\w ]+?)\s*(?:;|\n)\s*do\b(.{0,4000}?)"
    r"^[ \t]*done\s*<\s*[\"']?([\w./-]+)[\"']?[ \t]*(?:#.*)?$"
)
_LINE = re.compile(
    r"(?m)^[ \t]*(\w+)=[\"']?\$\(\s*sed\s+-n\s+[\"']?\$\{?SLURM_ARRAY_TASK_ID\}?[\"']?p[\"']?\s+"
    r"[\"']?([\w./-]+)[\"']?\s*\)[\"']?[ \t]*$"
)
_MARKS = {"$'\\t'": "\t", '$"\\t"': "\t", ",": ",", "','": ",", "';'": ";", "": None}


def named_in_lists(job: Job) -> Iterator[Hit]:
    """Files that are not there, where the folder has one of nearly that name that no line names."""
    if job.language != "bash" or job.blind:
        return
    reads = [(one[4], one[2].split(), _MARKS.get(one[1] or "", "?"), one[3])
             for one in _LOOP.finditer(job.text)]  # fmt: skip
    reads += [(one[2], [one[1]], "\n", job.text[one.end() :]) for one in _LINE.finditer(job.text)]
    folder = next((one.folder for one in reversed(job.commands)), None)
    for file, names, mark, body in reads:
        path, text = path_of(file, folder, job), text_here(file, folder, job)
        if text is None or mark == "?":
            continue
        rows = [(n, one.split(mark, len(names) - 1)) for n, one in enumerate(text.splitlines(), 1)]
        source = Source(os.path.relpath(job.machine.real(path or "")), text)
        for at, name in enumerate(names):
            column = [(n, row[at].strip()) for n, row in rows if len(row) > at]
            used = _used_as(name, body)
            for front, back in dict.fromkeys(used):
                paths = {
                    line: path_of(f"{front}{value}{back}", folder, job)
                    for line, value in column if re.fullmatch(r"[\w./-]+", value)
                }  # fmt: skip
                there = {one for one in paths.values() if one and job.machine.exists(one)}
                for line, path in paths.items() if there else ():
                    if path is None or path in there:
                        continue
                    own, last = os.path.split(path)
                    meant = next(
                        (one for one in siblings(job.machine.real(path))
                         if (one.lower() == last.lower() or one_slip(one, last))
                         and f"{own}/{one}" not in there), None,
                    )  # fmt: skip
                    if meant and "." in last:
                        yield hit(line, f"{last} is not there", f"is it {meant}?", source=source)


def _used_as(name: str, body: str) -> list[tuple[str, str]]:
    """What is put before and behind a variable where it names a file that is not written."""
    if re.search(rf"\s-[efs]\s+\S*\$\{{?{name}\b", body):
        return []
    form = rf"(?m)(?<=\s)[\"']?([\w./-]*)\$(?:{name}\b|\{{{name}\}})([\w./-]*)[\"']?(?=[\s;|)]|$)"
    return [
        (one[1], one[2]) for one in re.finditer(form, body)
        if not re.search(r"(?:>|\s-\w*[efso]|--out\S*|mkdir|touch)\s*$", body[: one.start()])
    ]  # fmt: skip


@rule("JS117 A file is looked for in a new folder, where it is not")
def _in_new_folders(job: Job) -> Iterator[Hit]:
    """It is in the folder of the submission, and nothing was copied to the one that is entered."""
    made: set[str] = set()
    inside, written = False, set[str]()
    for command in job.commands if job.is_slurm and not job.blind else ():
        name = command.bare
        program = job.program_of.get(id(command))
        reads = [one.word for one in uses_of(command) if one.kind == "read"]
        for word in reads if not command.conditional else ():
            bare = re.fullmatch(r"\$(\w+)/([\w./-]+)", _bare(word))
            there = bare and job.machine.exists(f"{job.folder}/{bare[2]}")
            if bare and there and _unused(bare[1], word, job):
                yield hit(word, f"{bare[2]} is in the folder of the submission, not in ${bare[1]}",
                          source=command.source)  # fmt: skip
        if name == "mkdir":
            made |= {_bare(one) for one in command.arguments}
        elif name in ("cd", "pushd"):
            inside = bool(command.arguments) and _is_new(command.arguments[0], made, job)
        elif name in BUILDS or name in ("popd", "source", ".") or command.contained:
            return
        if not inside or command.folder is not None or command.conditional:
            continue
        reads += [program.word] if program and program.word else []
        for word in reads:
            value = word.value or ""
            plain = re.fullmatch(r"(?!\.\./|/|-)[\w./-]+", value) and value not in written
            if plain and job.machine.exists(f"{job.folder}/{value}"):
                yield hit(word, f"{value} is in the folder of the submission, not in this one",
                          f'"$SLURM_SUBMIT_DIR/{value}"', source=command.source)  # fmt: skip
        written |= {one.word.value or "" for one in uses_of(command) if one.kind == "write"}
        if program is not None or (name not in HARMLESS and command.words):
            return


def _unused(name: str, word: Word, job: Job) -> bool:
    """Whether a variable is a new folder, and nothing before may have put a file there."""
    before = "\n".join(job.text.split("\n")[: word.place.line - 1])
    made = re.findall(rf"(?m)^[ \t]*(?:export\s+)?{name}=.*", before)
    used = re.sub(r"(?m)^[ \t]*(?:mkdir|trap|echo)\b.*", "", before)
    fresh = len(made) == 1 and "$(mktemp -d" in made[0]
    return fresh and not re.search(rf"\$\{{?{name}\b|\b(?:source|export|eval)\b", used)


def _bare(word: Word) -> str:
    return word.text.replace('"', "").strip("'").replace("{", "").replace("}", "").rstrip("/")


def _is_new(word: Word, made: set[str], job: Job) -> bool:
    """Whether a folder of unknown name is empty when it is entered."""
    bare = _bare(word)
    if word.value is not None or not bare.startswith("$"):
        return word.value is None and bare in made
    temporary = rf"\b{re.escape(bare[1:])}=[\"']?\$\(mktemp -d"
    return bare in made or bare in ("$TMPDIR", "$SLURM_TMPDIR") or bool(
        re.search(temporary, job.text)
    )  # fmt: skip
