"""JS216, JS352: variables that schedulers give to jobs: those not asked for, those of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.known import SET_WITH
from jobsight.program.python import catches, dotted

__all__: list[str] = []

_NAMED = r"(?:\$\{?|\(\([^()]*?(?<![\w$]))SLURM_([A-Z_]+)\b(?!\}?:?[-+?=])"
"""A variable that is filled in, or named in arithmetic."""
_READS = {
    "r": r"as\.\w+\(\s*Sys\.getenv\(\s*[\"']SLURM_([A-Z_]+)[\"']\s*\)",
    "julia": r"\bENV\[\"SLURM_([A-Z_]+)\"\]",
    "matlab": r"str2(?:num|double)\(\s*getenv\(\s*['\"]SLURM_([A-Z_]+)['\"]\s*\)",
    **dict.fromkeys(("c", "cpp"), r"\bato[if]\(\s*(?:std::)?getenv\(\s*\"SLURM_([A-Z_]+)\"\s*\)"),
}
"""How programs read a number from a variable that must be set."""
_CALL = re.compile(
    r"(?m)sbatch\b.*?\s(?:--(?:array|cpus-per-task|ntasks|mem|gpus)|-[anc]\s*\S)"
    r"|^\s*#(?!SBATCH\b).*\s(?:--array|-a)[= ]\s*\d"
)
"""Such options in a call of sbatch, or in a comment."""
_GUARDS = r"is\.na\(|nzchar|isnan\(|isempty\(|haskey\(|tryCatch|try\b"


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
                yield hit(number, *_unset(name), severity=_severity(job))
    if not re.search(r"\bSLURM_\w+=", job.text):
        yield from _unset_in_programs(job)


def _severity(job: Job) -> Severity | None:
    return "error" if job.options else None


def _lacks(name: str, job: Job) -> bool:
    """Whether an option is missing with which Slurm would set a variable."""
    needs = set(SET_WITH.get(f"SLURM_{name}", ()))
    return bool(needs) and not needs & job.submission.settings.keys()


def _unset(name: str) -> tuple[str, str]:
    option = SET_WITH[f"SLURM_{name}"][0]
    return f"there is no --{option}: SLURM_{name} is unset", f"#SBATCH --{option}=..."


def _unset_in_programs(job: Job) -> Iterator[Hit]:
    """Programs that need the variable: without it they fail."""
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
                yield hit(node, *_unset(name), severity=_severity(job),  # type: ignore[arg-type]
                          source=program.source)  # fmt: skip
    for program, source in job.sources:
        form = _READS.get(program.language or "", r"(?!)")
        if re.search(_GUARDS, source.text):
            continue
        for found in re.finditer(form, source.text):
            if _lacks(found[1], job):
                yield hit(found, *_unset(found[1]), severity=_severity(job), source=source)


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


_FOREIGN = {
    **dict.fromkeys(("PBS_O_WORKDIR", "LS_SUBCWD", "SGE_O_WORKDIR"), "SLURM_SUBMIT_DIR"),
    **dict.fromkeys(("PBS_ARRAYID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX", "SGE_TASK_ID"),
                    "SLURM_ARRAY_TASK_ID"),
    **dict.fromkeys(("PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE"), "SLURM_JOB_NODELIST"),
    **dict.fromkeys(("PBS_NP", "PBS_NUM_PPN", "LSB_DJOB_NUMPROC"), "SLURM_NTASKS"),
    **dict.fromkeys(("PBS_NCPUS", "NCPUS", "NSLOTS"), "SLURM_CPUS_PER_TASK"),
    **dict.fromkeys(("PBS_JOBID", "LSB_JOBID"), "SLURM_JOB_ID"), "PBS_JOBNAME": "SLURM_JOB_NAME",
}  # fmt: skip
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
