"""How many threads and processes programs start, where the number stands in their text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText, dotted
from jobsight.program.shell.model import Source
from jobsight.text import wordset

__all__ = ["too_many_workers"]

_POOLS = wordset("Pool ProcessPoolExecutor Parallel set_num_threads")
"""Calls whose first argument is a number of workers."""
_KEYWORDS = wordset(
    "processes max_workers n_jobs num_workers n_workers num_threads n_threads nthread nthreads "
    "thread_count n_cores ncores n_cpus"
)
_R = r"mc\.cores|cores|workers|nthreads?|n\.cores|num\.threads|ncpus"
_OPENMP = r"\bomp_set_num_threads\s*\(\s*(\w+)|^[ \t]*#pragma omp .*\bnum_threads\s*\(\s*(\w+)"
_FORMS = {
    "r": rf"[(,]\s*(?:{_R})\s*=\s*([\w.]+)\s*[,)]"
         r"|\b(?:make(?:PSOCK|Fork)?Cluster|registerDo(?:Parallel|MC)|setDTthreads)\(\s*([\w.]+)",
    "matlab": r"\b(?:parpool|maxNumCompThreads)\(\s*(?:['\"]\w+['\"]\s*,\s*)?(\w+)",
    "julia": r"\b(?:addprocs|BLAS\.set_num_threads)\(\s*(\w+)",
    "java": r"\bnew(?:FixedThread|WorkStealing)Pool\(\s*(\w+)|\bnew ForkJoinPool\(\s*(\w+)",
    "go": r"\bGOMAXPROCS\(\s*(\w+)",
    "perl": r"\bForkManager->new\(\s*(\$?\w+)",
    **dict.fromkeys(("c", "cpp", "fortran"), _OPENMP),
}  # fmt: skip
_COUNTS_NODE = {
    "r": r"\bdetectCores\(", "julia": r"\bSys\.CPU_THREADS\b", "matlab": r"feature\(['\"]numcores",
    "python": r"\b(?:os|multiprocessing|mp)\.cpu_count\(\)",
}  # fmt: skip
"""What counts the CPUs of the node, not those of the job."""


def too_many_workers(job: Job, most: int) -> Iterator[Hit]:
    """Constant numbers above the CPUs of the job; numbers that are taken from the node."""
    for program, text in job.pythons:
        if program.source is not None:
            yield from _of_python(text, program.source, most)
            yield from _of_node("python", program.source, most)
    for program, source in job.sources:
        if program.language in _FORMS:
            yield from _of_text(program.language, source, most)
            yield from _of_node(program.language, source, most)


def _of_python(text: PythonText, source: Source, most: int) -> Iterator[Hit]:
    for name, call, _ in text.calls:
        last = name.rpartition(".")[2]
        if "Thread" in name:
            continue
        given = [*(call.args[:1] if last in _POOLS else ())]
        given += [one.value for one in call.keywords if one.arg in _KEYWORDS]
        for one in given:
            number = text.number(one)
            if number is not None and number > most:
                yield _hit(text.values.get(dotted(one), call), int(number), most, source)
                break
    for node, _ in text.nodes:
        value = _threads_set(node) if isinstance(node, ast.Assign) else None
        if value is not None and value > most and isinstance(node, ast.Assign):
            yield _hit(node, value, most, source)


def _threads_set(node: ast.Assign) -> int | None:
    """The number in ``os.environ["OMP_NUM_THREADS"] = "8"``."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Subscript) or not isinstance(value, ast.Constant):
        return None
    key = target.slice.value if isinstance(target.slice, ast.Constant) else ""
    threads = dotted(target.value).endswith("environ") and str(key).endswith("_NUM_THREADS")
    return int(value.value) if threads and str(value.value).isdecimal() else None  # type: ignore[arg-type]


def _of_text(language: str, source: Source, most: int) -> Iterator[Hit]:
    """Numbers in the text, or in the one assignment of the name that is given."""
    for found in re.finditer(_FORMS[language], source.text, re.M):
        word, at = next(one for one in found.groups() if one), found.start()
        if not word[:1].isdecimal():
            name = re.escape(word)
            form = rf"(?<![\w.]){name}\s*(?:<-|=)\s*(\d+)L?\s*[;\n]"
            set_to = list(re.finditer(form, source.text))
            if len(set_to) != 1:
                continue
            word, at = set_to[0][1], set_to[0].start(1)
        number = re.match(r"\d+", word)
        if number is not None and int(number[0]) > most:
            yield _hit(source.text.count("\n", 0, at) + 1, int(number[0]), most, source)


def _of_node(language: str, source: Source, most: int) -> Iterator[Hit]:
    form = _COUNTS_NODE.get(language)
    if form is None or re.search(r"SLURM_|\bmin\(|availableCores|affinity", source.text):
        return
    for found in re.finditer(rf"(?m)^[^#%\n]*{form}", source.text):
        message = f"this counts the CPUs of the node, the job has {most}"
        yield hit(found, message, "the value of SLURM_CPUS_PER_TASK", source=source)


def _hit(at: ast.expr | ast.stmt | int, number: int, most: int, source: Source) -> Hit:
    message = f"{number} workers, but the job has {most} CPUs"
    return hit(at, message, f"#SBATCH --cpus-per-task={number}", source=source)
