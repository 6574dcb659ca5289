"""JS216, JS314, JS316, JS317, JS352: variables that nothing sets; tests and assignments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jobsight.program.known import KNOWN
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.known import SET_WITH, SLURM_SETS
from jobsight.program.python import catches, dotted
from jobsight.program.shell.model import Source, Word
from jobsight.program.submission.job import Place
from jobsight.text import one_slip

__all__ = ["GIVEN"]

GIVEN = re.compile(
    r"(?:SLURM|SBATCH|CUDA|OMP|MKL|PBS|LSB|SGE|CONDOR|_CONDOR|XDG|LMOD|CONDA|MODULE|LD|BASH|LC|SSH|OPENBLAS|"
    r"APPTAINER|SINGULARITY|PMI|OMPI|EB|SPACK|JAVA|NVIDIA|ROCR|GPU)\w*|HOME|USER|LOGNAME|PATH|PWD|OLDPWD|"
    r"SHELL|TMPDIR|TMP|TEMP|HOSTNAME|HOST|TERM|LANG|SCRATCH\w*|WORK\w*|PROJECT\w*|STORE\w*|GROUP\w*|DATA\w*|"
    r"RANDOM|SECONDS|LINENO|UID|EUID|PPID|IFS|OPTARG|OPTIND|FUNCNAME|PIPESTATUS|REPLY|SHLVL|DIRSTACK|LOCAL\w*|"
    r"MANPATH|PYTHONPATH|CPATH|CLUSTER\w*|JOB\w*|NODE\w*|EDITOR|DISPLAY|PS\d|HISTFILE|MAIL|\w*SCRATCH|\w*_ROOT|"
    r"\w*_HOME|\w*_DIR|EBROOT\w*|\w*TMP|\w*WORK|\d+|[@*#?$!_-]|read|PROMPT_COMMAND|CC|CXX|FC|CFLAGS|\w*FLAGS"
)
"""Variables that the scheduler, the site or the shell sets."""


_DEFAULTED = re.compile(r"\$\{(\w+):?[=?]|\[ +(?:-[nz] +)?\"?\$\{(\w+):?[-+]")
"""Variables that may be unset as their author knows: they get a default, or are tested."""
_PATHS = frozenset({"PYTHONPATH", "LD_LIBRARY_PATH", "MANPATH", "PKG_CONFIG_PATH", "CPATH"})
"""Variables of the caller that often are not set."""


@rule("JS314 A variable that nothing sets")
def _unset_variables(job: Job) -> Iterator[Hit]:
    """One slip away from a name that is set; or any, after ``set -u``.

    Who calls the script, or the site, may set others: of these all are named once, in a warning.
    """
    if job.variables is None:
        return
    outside: dict[str, tuple[Word, Source]] = {}
    defaulted = {name for one in _DEFAULTED.findall(job.text) for name in one}
    known = job.walk.assigned | job.variables | defaulted
    seen, usual = set[str](), known - _PATHS
    for word, source, nounset in _words_read(job):
        if ":-" in word.depends or re.search(r"\$\{\w+[:\-+=?]", word.text):
            continue
        names = set(re.findall(r"\$\{?([A-Za-z_]\w*)", word.text)) & word.depends
        for name in sorted(names - usual - seen):
            found = _unset(name, known, nounset, job, source)
            if found is not None:
                seen.add(name)
                yield hit(word, found[0], found[1], severity=found[2], source=source)
            elif nounset and not GIVEN.fullmatch(name):
                outside.setdefault(name, (word, source))
    if outside:
        word, source = next(iter(outside.values()))
        shown = ", ".join([*outside][:5]) + (", …" if len(outside) > 5 else "")
        message = f"nothing here sets {shown}: where that is not set, set -u ends the script"
        severity: Severity | None = None if job.executable else "warning"
        yield hit(word, message, f"${{{next(iter(outside))}:?}}", severity=severity, source=source)


def _words_read(job: Job) -> Iterator[tuple[Word, Source, bool]]:
    """Words of commands and of assignments, where nothing unknown may set variables."""
    stop = job.broken[0] if job.broken else None
    for word, source, nounset in job.walk.read:
        if stop is None or source.file != job.source.file or word.place.line < stop:
            yield word, source, nounset
    for command in job.commands:
        if not (command.environment.opaque or command.contained):
            for word in (*command.words, *(one.target for one in command.redirects)):
                yield word, command.source, command.nounset


def _unset(
    name: str, known: set[str], nounset: bool, job: Job, source: Source
) -> tuple[str, str | None, Severity | None] | None:
    """Message, fix and severity, of a variable that no command sets."""
    close = (one for one in sorted(known) if one_slip(name, one) and min(len(name), len(one)) > 3)
    near = next(close, None)
    if near is not None and not re.match(r"(?:SLURM|SBATCH|CUDA|OMP)_", name):
        # A name that sites set may be meant as it is.
        return f"nothing sets {name}", f"${near}?", "warning" if GIVEN.fullmatch(name) else None
    if name in _PATHS and not (nounset and not job.walk.functions):
        return None
    if name in _PATHS:
        return f"where {name} is not set, set -u ends the script", f"${{{name}:-}}", "warning"
    if (other := _slurm_slip(name)) is not None:
        return f"Slurm sets no {name}", f"${other}", None
    if nounset:
        return None
    followed = sum(one.exact for one in job.walk.sources) > 1
    alone = job.walk.complete and not followed and source.first == 0
    if name.islower() and len(name) > 2 and not GIVEN.fullmatch(name) and alone:
        return f"nothing sets {name}", None, "warning"
    return None


_WRONG: dict[str, str] = KNOWN["variables"]["wrong"]


def _slurm_slip(name: str) -> str | None:
    if not name.startswith("SL") or name in SLURM_SETS:
        return None
    return _WRONG.get(name) or next(
        (one for one in sorted(SLURM_SETS) if one_slip(name, one)), None
    )


@rule("JS316 A test that bash cannot evaluate")
def _broken_tests(job: Job) -> Iterator[Hit]:
    """No ``]``, or no blank next to a bracket: bash takes it for a command when it gets there."""
    if job.language != "bash":
        return
    for number, line in job.code:
        text = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", lambda m: "q" * len(m[0]), line)
        found = re.search(
            r"(?:^|[;&|!]|\b(?:if|elif|while|until))\s*(\[\[?)(?=[\s$\-q!])([^;]*?)(?:;|&&|\|\||$)",
            text,
        )
        if found is None or line.rstrip().endswith("\\") or re.match(r"\w+\]=", found[2]):
            continue  # the last: of an array's elements
        bracket, inner = found[1], found[2]
        place = Place(number, found.start(1) + 1)
        if not inner[:1].isspace():
            message = f"a blank is missing behind {bracket}: command not found"
            yield hit(place, message, f"{bracket} ...")
        elif bracket == "[" and not re.search(r"\s\](?:\s|$|\))", inner):
            closes = inner.rstrip().endswith("]")
            what = "a blank is missing before ]" if closes else "] is missing"
            yield hit(place, f"{what}: the test always fails", "[ ... ]")


@rule("JS317 Blanks around the = of an assignment")
def _spaced_assignment(job: Job) -> Iterator[Hit]:
    """Bash takes the name for a command; ``$X=1`` is one too."""
    for command in job.commands:
        words = command.words
        if not words or command.launchers:
            continue
        name = words[0].text
        if len(words) > 1 and words[1].text.startswith("=") and words[1].text[:2] != "==":
            if re.fullmatch(r"\w+", name) and not job.machine.command(name):
                message = f"{name}: command not found"
                yield hit(words[0], message, f"{name}=...", source=command.source)
        elif re.match(r"\w+[.-][\w.-]*=[^=]", name) and "/" not in name.partition("=")[0]:
            what = name.partition("=")[0]
            message = f"{what} is not a name: the line runs as a command"
            yield hit(words[0], message, source=command.source)
        elif re.match(r"\$\w+=", name):
            message = f"{name[:40]} is taken for a command"
            yield hit(words[0], message, name[1:41], source=command.source)
        elif re.fullmatch(r"\w+=", name) and len(words) > 1:
            message = f"{name} sets nothing: a blank follows"
            yield hit(words[0], message, f"{name}...", source=command.source)


_NAMED = r"(?:\$\{?|\(\([^()]*?(?<![\w$]))SLURM_([A-Z_]+)\b(?!\}?:?[-+?=])"
"""A variable that is filled in, or named in arithmetic."""
_CALL = re.compile(
    r"(?m)sbatch\b.*?\s(?:--(?:array|cpus-per-task|ntasks|mem|gpus)|-[anc]\s*\S)"
    r"|^\s*#(?!SBATCH\b).*\s(?:--array|-a)[= ]\s*\d"
)
"""Such options in a call of sbatch, or in a comment."""


@rule("JS216 A variable that Slurm sets only with an option that is not given", severity="warning")
def _unset_by_slurm(job: Job) -> Iterator[Hit]:
    """An error where the options of the call are known: they could give the option."""
    if not job.is_slurm or _CALL.search(job.text):
        return
    seen: set[str] = set()
    for number, line in enumerate(job.text.split("\n"), 1):
        if line.lstrip().startswith("#") or "\\$" in line:
            continue
        for name in re.findall(_NAMED, line):
            form = rf"SLURM_{name}\}}?:?[-+?=]|\[\s+(?:!\s+)?-[nzv]\s+\S*SLURM_{name}\b"
            guarded = re.search(form, job.text)
            if _lacks(name, job) and not guarded and name not in seen:
                seen.add(name)
                yield hit(number, *_missing_option(name), severity=_severity(job))
    if not re.search(r"\bSLURM_\w+=", job.text):
        # Programs that need the variable: without it they fail
        for program, text in job.pythons:
            for node, around in text.nodes:
                name = _needed(node)
                if name is None or not _lacks(name, job):
                    continue
                asked = re.search(rf"[\"']SLURM_{name}[\"']\s+(?:not\s+)?in\b", text.text)
                chosen = any(
                    isinstance(one, ast.If | ast.IfExp) and "__name__" not in ast.unparse(one.test)
                    for one in around
                )
                if not (asked or chosen or catches(node, around, "KeyError")):
                    yield hit(node, *_missing_option(name), severity=_severity(job),  # type: ignore[arg-type]
                              source=program.source)  # fmt: skip


def _severity(job: Job) -> Severity | None:
    return "error" if job.options else None


def _lacks(name: str, job: Job) -> bool:
    """Whether an option is missing with which Slurm would set a variable."""
    needs = set(SET_WITH.get(f"SLURM_{name}", ()))
    return bool(needs) and not needs & job.submission.settings.keys()


def _missing_option(name: str) -> tuple[str, str]:
    option = SET_WITH[f"SLURM_{name}"][0]
    return f"there is no --{option}: SLURM_{name} is unset", f"#SBATCH --{option}=..."


def _needed(node: ast.AST) -> str | None:
    """The variable of Slurm that ``os.environ[...]`` or ``int(os.getenv(...))`` needs."""
    key: ast.expr | None = None
    if isinstance(node, ast.Subscript) and dotted(node.value) in ("os.environ", "environ"):
        key = node.slice if isinstance(node.ctx, ast.Load) else None
    elif isinstance(node, ast.Call) and dotted(node.func) in ("int", "float") and node.args:
        inner = node.args[0]
        if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
            names = ("os.getenv", "os.environ.get", "environ.get", "getenv")
            key = inner.args[0] if dotted(inner.func) in names else None
    if isinstance(key, ast.Constant) and str(key.value).startswith("SLURM_"):
        return str(key.value)[6:]
    return None


_FOREIGN: dict[str, str] = KNOWN["variables"]["foreign"]
"""Variables of PBS, LSF and Grid Engine, and those of Slurm for the same."""


@rule("JS352 A variable of another scheduler")
def _other_schedulers(job: Job) -> Iterator[Hit]:
    """Slurm does not set it, unless the script asks whether it is set, or is for both."""
    if not job.is_slurm:
        return
    both = re.search(r"^#(?:PBS|BSUB|\$) -", job.text, re.M)
    seen: set[str] = set()
    for number, line in job.code:
        for name in re.findall(r"(?<!\\)\$\{?(\w+)", line):
            if name not in _FOREIGN or name in seen or name in job.walk.assigned:
                continue
            seen.add(name)
            asked = rf"\$\{{{name}:?[-+?=]|-[nzv]\s+[\"']?\$?\{{?{name}\b"
            if not re.search(asked, job.text):
                yield hit(number, f"Slurm does not set {name}", f"${_FOREIGN[name]}",
                          severity="warning" if both or "$(" in line else None)  # fmt: skip
