"""JS201–JS209, JS217, JS218: directives, tasks and threads, against what the script starts."""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import replace

from jobsight.program.known import KNOWN
from jobsight.program.preflight.files import HARMLESS
from jobsight.program.preflight.findings import Edit, Hit, Severity, hit, reported, rule
from jobsight.program.preflight.job import OTHER_SHELLS, Job
from jobsight.program.preflight.known import SPREADS, starts_tasks
from jobsight.program.python import PythonText, dotted
from jobsight.program.shell.launchers import MPI
from jobsight.program.shell.model import Command, Source
from jobsight.program.shell.programs import interpreter_of
from jobsight.program.submission.job import Problem
from jobsight.text import wordset

__all__ = ["too_many_workers"]


def _problems(job: Job) -> tuple[Problem, ...]:
    return job.submission.problems if job.is_slurm else ()


@rule("JS201 An option that sbatch does not know")
def _unknown_option(job: Job) -> Iterator[Hit]:
    """Sbatch refuses the script, unless a plug-in (SPANK) of the site adds the option."""
    for one in (one for one in _problems(job) if one.kind == "unknown"):
        old = re.search(r"--[\w-]+", one.message)
        new = re.match(r"--[\w-]+", one.fix or "")
        edit = Edit(one.place.line, old[0], new[0]) if old and new else None
        yield hit(one, one.message, one.fix, edit=edit)
    plugins = [one for one in _problems(job) if one.kind == "plug-in"]
    if plugins:
        names = ", ".join(dict.fromkeys(one.message for one in plugins))
        message = f"not of Slurm itself: sbatch needs a plug-in for {names[:120]}"
        yield hit(plugins[0], message, severity="warning")


@rule("JS202 A directive behind the first command")
def _late_directive(job: Job) -> Iterator[Hit]:
    """Slurm reads directives until the first line that is neither empty nor a comment."""
    for one in _problems(job):
        if one.kind == "late" and one.place.line not in job.here_lines:
            message = f"Slurm ignores #SBATCH {one.message[:60]}: a command comes before it"
            yield hit(one, message, "move it above the first command")


@rule("JS203 A value that sbatch refuses")
def _refused_value(job: Job) -> Iterator[Hit]:
    """Units, times, counts, words."""
    yield from reported(_problems(job), "value", "conflict")


@rule("JS204 A directive that means something else than it seems to")
def _misread_directive(job: Job) -> Iterator[Hit]:
    """Words that are dropped, and variables, which Slurm does not expand."""
    yield from reported(_problems(job), "dropped", "variable")


@rule("JS205 A comment that looks like a directive", severity="warning")
def _almost_directive(job: Job) -> Iterator[Hit]:
    """``# SBATCH``, ``#sbatch``, ``#SBTACH``: Slurm takes them for comments."""
    for number, line in enumerate(job.text.split("\n"), 1):
        if re.match(r"#SBATCH\s.*\s#\s?SBATCH\s", line):
            yield hit(number, "what follows the second # is a comment", "a line for each #SBATCH")
        found = re.match(r"#(\s*)([A-Za-z]{5,8})\s+--?[a-zA-Z]", line)
        if found is None:
            if line.strip() and not line.lstrip().startswith("#"):
                return
            indented = re.match(r"\s+#SBATCH\s+-", line)
            if indented:
                message = "Slurm ignores a directive that is indented"
                edit = Edit(number, indented[0], indented[0].lstrip())
                yield hit(number, message, line.strip(), severity="error", edit=edit)
            continue
        word = found[2]
        if (word == "SBATCH" and not found[1]) or (word == "sbatch" and found[1]):
            continue
        if re.search(r"\s--?[a-zA-Z]\S*(?:\s+[^-\s#]\S*){3}", line):
            continue  # a sentence
        if word.upper() == "SBATCH" or difflib.SequenceMatcher(None, word, "SBATCH").ratio() > 0.8:
            old = line[: found.end(2)]
            severity: Severity | None = None if found[1] else "error"
            message = f"Slurm takes {old} for a comment"
            fix = f"#SBATCH{line[found.end(2) :]}"
            yield hit(number, message, fix, severity=severity, edit=Edit(number, old, "#SBATCH"))


@rule("JS206 Numbers of tasks and nodes that do not fit")
def _tasks_and_nodes(job: Job) -> Iterator[Hit]:
    """More nodes than tasks, or more tasks than nodes × tasks per node."""
    yield from reported(_problems(job), "tasks")
    yield from reported(_problems(job), "nodes", severity="warning")


@rule("JS207 More tasks are started than were asked for")
def _launcher_tasks(job: Job) -> Iterator[Hit]:
    """``srun -n`` and ``mpirun -np``, given or computed, against ``--ntasks``; fewer is a waste."""
    if not job.is_slurm or job.submission.components > 1:
        return
    request = job.submission.request
    settings = job.submission.settings
    open_ended = job.submission.value("exclusive") in ("", "true")  # not =user, =mcs
    # Where nodes are given out whole, as many sites do, that is all that is asked for.
    whole = "nodes" in settings and not any("tasks" in one or "cpus" in one for one in settings)
    for command in job.commands:
        for one in command.launchers:
            if one.name not in MPI and one.name != "srun":
                continue
            nodes = one.options.get("N", one.options.get("nodes", ""))
            most = request.most_nodes
            if one.name == "srun" and nodes.isdecimal() and int(nodes) > (most or math.inf):
                message = f"srun wants {nodes} nodes, the job has {most}"
                yield hit(one, message, f"#SBATCH --nodes={nodes}", source=command.source)
            names = ("n", "np", "ntasks") if one.name == "srun" else ("n", "np", "ntasks", "c")
            named = next((one.options[name] for name in names if name in one.options), "")
            given = job.whole(named)
            if given is None or "O" in one.options or "oversubscribe" in f"{one.options}".lower():
                continue
            # Open MPI has the slots of --ntasks-per-node even where whole nodes are given out.
            slots = "openmpi" in job.text and one.name in MPI and "ntasks-per-node" in settings
            if given > request.tasks and (slots or not open_ended):
                cpus = request.cpus
                perhaps = whole or (one.name in MPI and given <= cpus)
                message = f"{one.name} starts {given} tasks, the job has {request.tasks}"
                severity: Severity | None = "warning" if perhaps else None
                fix = f"#SBATCH --ntasks={given}"
                if request.cpus_per_task > 1 and given <= cpus:
                    fix += " in place of --cpus-per-task"
                yield hit(one, message, fix, severity=severity, source=command.source)


@rule("JS208 More tasks or nodes are asked for than are used", severity="warning")
def _unused_tasks(job: Job) -> Iterator[Hit]:
    """Nothing in the script starts more than one task, or each of them does the same."""
    if not job.is_slurm or not job.walk.complete or job.broken or job.language in OTHER_SHELLS:
        return
    request = job.submission.request
    for command in job.commands:
        for one in command.launchers if _is_serial(command, job) else ():
            given = next((one.options[n] for n in ("n", "np", "ntasks") if n in one.options), None)
            tasks = request.tasks if given is None else job.whole(given) or 1
            apart = {"N", "nodes", "ntasks-per-node", "multi-prog"} & {*one.options}
            if (one.name in MPI or one.name == "srun") and tasks > 1 and not apart:
                message = f"each of {tasks} tasks does the same work"
                yield hit(one, message, source=command.source)
    if request.tasks < 2 or any(one.launchers for one in job.commands):
        return
    if re.search(
        r"srun|mpi|parallel|xargs|ssh|torchrun|ray|dask|SLURM_|NTASKS|-host|charmrun|spark",
        job.text,
    ):
        return
    if any(one.background for one in job.commands) or not job.commands or _perhaps_parallel(job):
        return
    setting = job.submission.first("ntasks", "nodes", "ntasks-per-node")
    if setting is not None:
        message = f"{request.tasks} tasks are asked for, and one runs"
        fix = "start them with srun, or ask for --cpus-per-task"
        yield hit(setting, message, fix)


def _perhaps_parallel(job: Job) -> bool:
    """Whether a program may start the tasks itself: by its name, its text or its options.

    Nothing is known of what make runs, of commands in variables, and of scripts that are not here.
    """
    tasks = re.compile(rf"(?<![\d.]){job.submission.request.tasks}(?![\d.])")
    for command in (one for one in job.commands if one.words and one.bare not in HARMLESS):
        program = job.program_of.get(id(command))
        here = program is not None and (program.source or job.machine.exists(program.path or "\0"))
        named = interpreter_of(command.name) or "/" in (command.name or "")
        if named and not here and id(command) not in job.compiled:
            return True
        if command.name is None or command.bare in SPREADS or command.bare == "make":
            return True
        if any(tasks.search(one.value or "") for one in command.arguments):
            return True
    return any(starts_tasks(one.language, source) for one, source in job.sources)


_DIVIDES = re.compile(r"(?i)mpi|slurm|pmi|rank|hvd|horovod|torch|deepspeed|dask|procid|hostname")


def _is_serial(command: Command, job: Job) -> bool:
    """Whether a program, known as a whole, never asks which of the tasks it is."""
    texts = [source.text for _, source in job.started_by(command)]
    texts += [text.text for one, text in job.pythons if one.command is command]
    words = [word.text for word in command.words]
    return bool(texts) and not any(map(_DIVIDES.search, (*texts, *words)))


_LONG = (
    r"--threads?|--cpus?|--CPU|--cores|--nproc|--num[-_]threads|--ncpus|--n[-_]?threads|--ncores"
    r"|--local-?cores|--max-?threads|-num_threads|-nthreads|-threads|-ntomp|--runThreadN"
)
_THREADS = re.compile(
    rf"^(?:{_LONG}|-j|-t|-@|-p|--jobs|-nt|--num[-_]workers|--n[-_]jobs|--workers)(?:=?(\d+))?$"
)
_ANY_THREADS = re.compile(rf"(?:{_LONG})(?:=(\d+))?")
"""Options that mean threads in every program that has them."""
_COUNTS_THREADS = re.compile(
    r"make|ninja|bwa|bowtie2?|samtools|STAR|hisat2|minimap2|blast\w+|fastqc|pigz|cmake|snakemake|spades\.py|"
    r"salmon|kallisto|bcftools|xz|zstd|sort|parallel|hmmsearch|raxml\S*|iqtree\S*|julia|xargs|python[\d.]*"
)
_SUBMITS = re.compile(r"--(?:cluster|executor|profile|drmaa|slurm)\b")
"""Options with which snakemake submits its jobs."""
_THREAD_VARIABLES = wordset(KNOWN["requests"]["thread_variables"])


@rule("JS209 More threads than CPUs", severity="warning")
def _threads(job: Job) -> Iterator[Hit]:
    """OMP_NUM_THREADS and its like, ``-j``, ``-t``, ``-@``, against the CPUs of a task."""
    if not (job.is_slurm or job.cpus) or "exclusive" in job.submission.settings:
        return
    request = job.submission.request
    request = replace(request, cpus_per_task=job.cpus) if job.cpus else request
    seen: set[str] = set()
    for command in job.commands:
        mpi = any(one.name in MPI or one.name == "srun" for one in command.launchers)
        most = request.cpus_per_task if mpi else request.cpus
        for name in sorted(_THREAD_VARIABLES & command.assigned.keys()):
            value = command.assigned[name] or ""
            if value.isdecimal() and int(value) > most and name not in seen:
                seen.add(name)
                line = _line_of(job, rf"\b{name}=")
                message = f"{name}={value}, but a task has {most} CPUs"
                fix = f"#SBATCH --cpus-per-task={value}, or {name}=$SLURM_CPUS_PER_TASK"
                source = None if line else command.source
                yield hit(line or command, message, fix, source=source)
            form = rf"\b{name}=[\"']?\$\{{?SLURM_(?:CPUS_ON_NODE|JOB_CPUS_PER_NODE)\b"
            line = _line_of(job, form) if mpi and request.tasks > (request.nodes or 1) else None
            if line and name not in seen:
                seen.add(name)
                text = f"each of {request.tasks} tasks starts a thread for each CPU of its node"
                yield hit(line, text, f"{name}=$SLURM_CPUS_PER_TASK")
        many = [one.options.get("P", "") for one in command.launchers if one.name == "xargs"]
        processes = max((int(one) for one in many if one.isdecimal()), default=0)
        found = processes if processes > 2 * most else _threads_given(command)
        if found is not None and found > most:
            message = f"{found} threads, but a task has {most} CPUs"
            yield hit(command, message, f"#SBATCH --cpus-per-task={found}, or $SLURM_CPUS_PER_TASK")
    yield from too_many_workers(job, request.cpus)


def _line_of(job: Job, pattern: str) -> int | None:
    found = re.search(pattern, job.text)
    return None if found is None else job.text.count("\n", 0, found.start()) + 1


def _threads_given(command: Command) -> int | None:
    name = command.bare
    submits = name == "snakemake" and any(_SUBMITS.match(one.text) for one in command.arguments)
    if command.contained or submits or name in ("sbatch", "salloc"):
        return None
    form = _THREADS if _COUNTS_THREADS.fullmatch(name) else _ANY_THREADS
    words = command.arguments
    for at, word in enumerate(words):
        found = form.fullmatch(word.text)
        if found is None or (name == "sort" and word.text.startswith("-t")):
            continue
        following = words[at + 1].value if at + 1 < len(words) else None
        number = found[1] or following or ""
        if number.isdecimal() and word.text not in ("-p",) and name != "xargs":
            return int(number)
    return None


@rule("JS217 The job waits longer than its time limit")
def _too_long(job: Job) -> Iterator[Hit]:
    """Constant times of ``sleep``, and of programs that end by themselves: ``-maxh 24``."""
    limit = job.submission.request.time_s if job.is_slurm else None
    if limit is None or limit < 0:
        return
    for command in job.commands:
        for one in command.launchers:
            duration = one.options.get("duration", "")
            if (_seconds(duration) or 0) > limit:
                yield hit(one, f"timeout {duration} ends after the job: {limit:,} s",
                          severity="warning", source=command.source)  # fmt: skip
        if command.background or command.conditional or command.checked:
            continue
        spans: list[float] = []
        for at, word in enumerate(command.arguments):
            option, _, value = (word.value or "").rpartition("=")
            option = option or command.arguments[at - 1].text
            seconds = _seconds(value)
            unit = re.fullmatch(r"--?max[-_]?(h|min|sec)(?:(?:our|ute|ond)s?|s)?", option)
            if seconds is not None and command.name == "sleep":
                spans.append(seconds)
            elif seconds is not None and unit is not None:
                spans.append(seconds * {"h": 3600, "min": 60, "sec": 1}[unit[1]])
        times = math.prod(one.times or 1 for one in command.loops)
        spans = [one * times for one in spans]
        if sum(spans) > limit:
            named = job.submission.settings["time"]
            message = f"{sum(spans):,.0f} s are longer than --time={named.value}: {limit:,} s"
            fix = "#SBATCH --time=HH:MM:SS"
            yield hit(command if command.name == "sleep" else named, message, fix)


def _seconds(text: str) -> float | None:
    """A span as sleep and timeout take it; None: not one."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    units = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
    return float(found[1]) * units[found[2]] if found else None


@rule("JS218 An amount of memory without its unit", severity="warning")
def _bare_memory(job: Job) -> Iterator[Hit]:
    """A bare number is MB: 16 of them are not enough for a program."""
    for name in ("mem", "mem-per-cpu", "mem-per-gpu") if job.is_slurm else ():
        setting = job.submission.settings.get(name)
        if setting is not None and re.fullmatch(r"[1-9]|[1-5]\d|6[0-4]", setting.value):
            text = f"--{name}={setting.value} asks for {setting.value} MB"
            yield hit(setting, text, f"--{name}={setting.value}G")


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
            language = program.language
            # Numbers in the text, or in the one assignment of the name that is given
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
