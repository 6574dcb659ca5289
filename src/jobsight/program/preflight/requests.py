"""JS2xx: what is asked of the scheduler, against what it allows and what the program uses."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from jobsight.program.preflight.amounts import allocations, c_allocations
from jobsight.program.preflight.findings import Edit, Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.launchers import MPI
from jobsight.program.submission.job import Place, Problem

if TYPE_CHECKING:
    from jobsight.program.shell.model import Command
    from jobsight.program.site import Node, Partition

from jobsight.text import wordlist

__all__: list[str] = []


def _problems(job: Job, *kinds: str) -> list[Problem]:
    return [one for one in job.submission.problems if one.kind in kinds] if job.is_slurm else []


@rule(
    "JS201 An option that sbatch does not know",
    fails="#SBATCH --tmie=10\necho hello\n",
    passes="#SBATCH --time=10\necho hello\n",
)
def _unknown_option(job: Job) -> Iterator[Hit]:
    """Sbatch refuses the script."""
    for one in _problems(job, "unknown"):
        old = re.search(r"--[\w-]+", one.message)
        new = re.match(r"--[\w-]+", one.fix or "")
        edit = Edit(one.place.line, old[0], new[0]) if old and new else None
        yield hit(one, one.message, one.fix, edit=edit)


@rule(
    "JS202 A directive behind the first command",
    fails="set -e\n#SBATCH --mem=4G\necho hello\n",
    passes="#SBATCH --mem=4G\nset -e\necho hello\n",
)
def _late_directive(job: Job) -> Iterator[Hit]:
    """Slurm reads directives until the first line that is neither empty nor a comment."""
    for one in _problems(job, "late"):
        if one.place.line not in job.here_lines:
            yield hit(
                one,
                f"Slurm ignores #SBATCH {one.message[:60]}: a command comes before it",
                "move it above the first command",
            )


@rule(
    "JS203 A value that sbatch refuses",
    fails="#SBATCH --mem=4.5G\n#SBATCH --time=1h\necho hello\n",
    passes="#SBATCH --mem=4608M\n#SBATCH --time=1:00:00\necho hello\n",
)
def _refused_value(job: Job) -> Iterator[Hit]:
    """Units, times, counts, words."""
    for one in _problems(job, "value", "conflict"):
        yield hit(one, one.message, one.fix)


@rule(
    "JS204 A directive that means something else than it seems to",
    fails="#SBATCH --mem=4 GB\n#SBATCH --output=$HOME/%j.out\necho hello\n",
    passes="#SBATCH --mem=4GB\n#SBATCH --output=%j.out\necho hello\n",
)
def _misread_directive(job: Job) -> Iterator[Hit]:
    """Words that are dropped, and variables, which Slurm does not expand."""
    for one in _problems(job, "dropped", "variable"):
        yield hit(one, one.message, one.fix)


@rule(
    "JS205 A comment that looks like a directive",
    fails="# SBATCH --mem=4G\necho hello\n",
    passes="##SBATCH --mem=4G\n#SBATCH --mem=8G\necho hello\n",
    severity="warning",
)
def _almost_directive(job: Job) -> Iterator[Hit]:
    """``# SBATCH``, ``#sbatch``, ``#SBTACH``: Slurm takes them for comments."""
    for number, line in enumerate(job.text.split("\n"), 1):
        found = re.match(r"#(\s*)([A-Za-z]{5,8})\s+--?[a-zA-Z]", line)
        if found is None:
            if line.strip() and not line.lstrip().startswith("#"):
                return
            indented = re.match(r"\s+#SBATCH\s+-", line)
            if indented:
                yield hit(
                    number,
                    "Slurm ignores a directive that is indented",
                    line.strip(),
                    severity="error",
                    edit=Edit(number, indented[0], indented[0].lstrip()),
                )
            continue
        word = found[2]
        if word == "SBATCH" and not found[1]:
            continue
        if word.upper() == "SBATCH" or difflib.SequenceMatcher(None, word, "SBATCH").ratio() > 0.8:
            old = line[: found.end(2)]
            severity: Severity | None = None if found[1] else "error"
            yield hit(
                number,
                f"Slurm takes {old} for a comment",
                f"#SBATCH{line[found.end(2) :]}",
                severity=severity,
                edit=Edit(number, old, "#SBATCH"),
            )


@rule(
    "JS206 Numbers of tasks and nodes that do not fit",
    fails="#SBATCH --nodes=4 --ntasks=2\nsrun hostname\n",
    passes="#SBATCH --nodes=2 --ntasks=4\nsrun hostname\n",
)
def _tasks_and_nodes(job: Job) -> Iterator[Hit]:
    """More nodes than tasks, or more tasks than nodes × tasks per node."""
    for one in _problems(job, "tasks"):
        yield hit(one, one.message, one.fix)


@rule(
    "JS207 More tasks are started than were asked for",
    fails="#SBATCH --ntasks=4\nsrun --ntasks=8 hostname\n",
    passes="#SBATCH --ntasks=8\nsrun --ntasks=8 hostname\n",
)
def _launcher_tasks(job: Job) -> Iterator[Hit]:
    """``srun -n`` and ``mpirun -np`` against ``--ntasks``; fewer is a waste."""
    if not job.is_slurm or job.submission.components > 1:
        return
    request = job.submission.request
    open_ended = any(name == "exclusive" for name in job.submission.settings)
    for command in job.commands:
        for one in command.launchers:
            if one.name not in MPI and one.name != "srun":
                continue
            given = next(
                (
                    one.options[n]
                    for n in ("n", "np", "ntasks", "c")
                    if n in one.options and (n != "c" or one.name != "srun")
                ),
                "",
            )
            if not given.isdecimal() or "oversubscribe" in one.options or "O" in one.options:
                continue
            if int(given) > request.tasks and not (open_ended and one.name in MPI):
                cpus = request.cpus
                fits = one.name in MPI and int(given) <= cpus
                message = f"{one.name} starts {given} tasks, the job has {request.tasks}"
                yield hit(
                    one,
                    message,
                    f"#SBATCH --ntasks={given}",
                    severity="warning" if fits else None,
                    source=command.source,
                )
            nodes = one.options.get("N", one.options.get("nodes", ""))
            if one.name == "srun" and nodes.isdecimal() and int(nodes) > request.nodes:
                message = f"srun wants {nodes} nodes, the job has {request.nodes}"
                yield hit(one, message, f"#SBATCH --nodes={nodes}", source=command.source)


@rule(
    "JS208 More tasks or nodes are asked for than are used",
    fails="#SBATCH --nodes=4\n#SBATCH --ntasks=16\nsort -n /etc/passwd\n",
    passes="#SBATCH --ntasks=16\nsrun hostname\n",
    severity="warning",
)
def _unused_tasks(job: Job) -> Iterator[Hit]:
    """Nothing in the script starts more than one task."""
    if not job.is_slurm or not job.walk.complete or job.broken:
        return
    request = job.submission.request
    if request.tasks < 2 or any(one.launchers for one in job.commands):
        return
    if re.search(
        r"srun|mpi|parallel|xargs|ssh|torchrun|ray|dask|SLURM_|NTASKS|-host|charmrun|spark",
        job.text,
    ):
        return
    if any(one.background for one in job.commands) or not job.commands:
        return
    name = next(
        (n for n in ("ntasks", "nodes", "ntasks-per-node") if n in job.submission.settings), None
    )
    if name is not None:
        yield hit(
            job.submission.settings[name],
            f"{request.tasks} tasks are asked for, and one runs",
            "start them with srun, or ask for --cpus-per-task",
        )


_THREADS = re.compile(
    r"^(?:-j|-t|-@|-p|--threads?|--cpus?|--cores|--jobs|--nproc|--num[-_]threads|-nt|--ncpus"
    r"|--num[-_]workers|--n[-_]jobs|--workers)(?:=?(\d+))?$"
)
_COUNTS_THREADS = re.compile(
    r"make|ninja|bwa|bowtie2?|samtools|STAR|hisat2|minimap2|blast\w+|fastqc|pigz|cmake|snakemake|spades\.py|"
    r"salmon|kallisto|bcftools|xz|zstd|sort|parallel|hmmsearch|raxml\S*|iqtree\S*|julia|xargs|python[\d.]*"
)
_THREAD_VARIABLES = frozenset(
    wordlist(
        "OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS "
        "JULIA_NUM_THREADS BLIS_NUM_THREADS RAYON_NUM_THREADS VECLIB_MAXIMUM_THREADS"
    )
)


@rule(
    "JS209 More threads than CPUs",
    fails="#SBATCH --cpus-per-task=2\nexport OMP_NUM_THREADS=16\n./a.out\n",
    passes="#SBATCH --cpus-per-task=16\nexport OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\n./a.out\n",
    severity="warning",
)
def _threads(job: Job) -> Iterator[Hit]:
    """OMP_NUM_THREADS and its like, ``-j``, ``-t``, ``-@``, against the CPUs of a task."""
    if not job.is_slurm or "exclusive" in job.submission.settings:
        return
    request = job.submission.request
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
                yield hit(
                    Place(line) if line else command,
                    message,
                    f"#SBATCH --cpus-per-task={value}, or {name}=$SLURM_CPUS_PER_TASK",
                    source=None if line else command.source,
                )
        found = _threads_given(command)
        if found is not None and found > most:
            yield hit(
                command,
                f"{found} threads, but a task has {most} CPUs",
                f"#SBATCH --cpus-per-task={found}, or $SLURM_CPUS_PER_TASK",
            )
    yield from _python_threads(job)


def _line_of(job: Job, pattern: str) -> int | None:
    found = re.search(pattern, job.text)
    return None if found is None else job.text.count("\n", 0, found.start()) + 1


def _threads_given(command: Command) -> int | None:
    name = PurePosixPath(command.name or "").name
    if not _COUNTS_THREADS.fullmatch(name) or command.contained:
        return None
    words = command.arguments
    for at, word in enumerate(words):
        found = _THREADS.match(word.text)
        if found is None or (name == "sort" and word.text.startswith("-t")):
            continue
        following = words[at + 1].value if at + 1 < len(words) else None
        number = found[1] or following or ""
        if number.isdecimal() and word.text not in ("-p",) and name != "xargs":
            return int(number)
    return None


_POOLS = frozenset(
    {"Pool", "ProcessPoolExecutor", "ThreadPoolExecutor", "Parallel", "set_num_threads"}
)


def _python_threads(job: Job) -> Iterator[Hit]:
    most = job.submission.request.cpus
    for program, text in job.pythons:
        for name, call, _ in text.calls:
            if name.rpartition(".")[2] not in _POOLS:
                continue
            given = [
                *call.args[:1],
                *(
                    k.value
                    for k in call.keywords
                    if k.arg in ("processes", "max_workers", "n_jobs")
                ),
            ]
            number = next((n for n in map(text.number, given) if n is not None), None)
            if number is not None and number > most and "Thread" not in name:
                message = f"{int(number)} processes, but the job has {most} CPUs"
                yield hit(
                    call, message, f"#SBATCH --cpus-per-task={int(number)}", source=program.source
                )


@rule(
    "JS210 More memory is allocated than was asked for",
    fails="#SBATCH --mem=512M\npython3 - <<'EOF'\ngrid = bytearray(2 * 10**9)\nEOF\n",
    passes="#SBATCH --mem=4G\npython3 - <<'EOF'\ngrid = bytearray(2 * 10**9)\nEOF\n",
)
def _memory(job: Job) -> Iterator[Hit]:
    """Constant sizes in Python programs, ``-Xmx`` of Java, buffers of sort and stress."""
    asked = _memory_mb(job)
    if not asked:
        return
    for program, text in job.pythons:
        for node, size in allocations(text):
            if size > asked * 2**20:
                yield hit(
                    node,
                    f"this allocates {size / 2**20:,.0f} MB, the job has {asked:,} MB",
                    f"#SBATCH --mem={_rounded(size)}",
                    source=program.source,
                )
    for program in job.walk.programs:
        if program.language in ("c", "cpp") and program.source is not None:
            for line, size in c_allocations(program.source.text):
                if size > asked * 2**20:
                    yield hit(
                        line,
                        f"this allocates {size / 2**20:,.0f} MB, the job has {asked:,} MB",
                        f"#SBATCH --mem={_rounded(size)}",
                        source=program.source,
                    )
    for command in job.commands:
        for word in command.words:
            found = re.fullmatch(r"-Xm[xs](\d+)([kmgKMG])", word.text)
            found = found or re.fullmatch(
                r"--?(?:vm-bytes|buffer-size|memory|mem|max-memory)=?(\d+)([kmgKMG])b?", word.text
            )
            if found:
                size = int(found[1]) << {"k": 10, "m": 20, "g": 30}[found[2].lower()]
                if size > asked * 2**20:
                    yield hit(
                        word,
                        f"{word.text}, but the job has {asked:,} MB",
                        f"#SBATCH --mem={_rounded(size)}",
                        source=command.source,
                    )


def _rounded(size: float) -> str:
    return f"{int(size * 1.1 / 2**30) + 1}G"


def _memory_mb(job: Job) -> int | None:
    """MB that a node of the job has for it; None: unknown, 0: all."""
    if not job.is_slurm:
        return None
    request = job.submission.request
    if request.node_memory_mb is not None:
        return request.node_memory_mb
    partition = _partition(job)
    for fields in ([partition.fields] if partition else []) + (
        [job.site.config] if job.site else []
    ):
        each = fields.get("DefMemPerNode", "")
        if each.isdecimal():
            return int(each)
        each = fields.get("DefMemPerCPU", "")
        if each.isdecimal():
            return int(each) * request.cpus
    return None


def _partition(job: Job) -> Partition | None:
    if job.site is None:
        return None
    name = job.submission.value("partition")
    return (
        job.site.default_partition if name is None else job.site.partitions.get(name.split(",")[0])
    )


@rule(
    "JS211 The partition is not there, or does not take the job",
    fails="#SBATCH --partition=no-such\necho hello\n",
    passes="#SBATCH --partition=short\necho hello\n",
)
def _partition_refuses(job: Job) -> Iterator[Hit]:
    """Names, states, accounts, qualities of service."""
    if not job.is_slurm or job.site is None or not job.site.partitions:
        return
    settings = job.submission.settings
    named = settings.get("partition")
    names = named.value.split(",") if named else []
    for name in names:
        if name not in job.site.partitions and named is not None:
            near = difflib.get_close_matches(name, job.site.partitions, 1)
            have = ", ".join(sorted(job.site.partitions)[:8])
            yield hit(
                named,
                f"there is no partition {name}",
                f"--partition={near[0]}" if near else f"one of {have}",
            )
            return
    chosen = _partition(job)
    if chosen is None or len(names) > 1:
        return
    state = chosen.fields.get("State", "UP")
    if state not in ("UP", "") and named is not None:
        yield hit(named, f"partition {chosen.name} is {state}: the job would wait")
    for what, option in (("Accounts", "account"), ("Qos", "qos")):
        if option in settings and chosen.refuses(what, settings[option].value):
            allowed = chosen.fields.get(f"Allow{what}", "")
            yield hit(
                settings[option],
                f"partition {chosen.name} does not take {option} {settings[option].value}",
                f"one of {allowed[:100]}" if allowed not in ("", "ALL") else None,
            )


@rule(
    "JS212 More is asked for than the partition allows or has",
    fails="#SBATCH --partition=short --time=10-00:00:00\necho hello\n",
    passes="#SBATCH --partition=short --time=30\necho hello\n",
)
def _limits(job: Job) -> Iterator[Hit]:
    """Time, nodes, CPUs, memory, GPUs, features, size of arrays: the job would wait for ever."""
    if not job.is_slurm or job.site is None:
        return
    chosen = _partition(job)
    settings, request = job.submission.settings, job.submission.request
    one_partition = "," not in settings["partition"].value if "partition" in settings else True
    if chosen is not None and one_partition:
        limit = chosen.time_s
        if (
            limit is not None
            and request.time_s is not None
            and (request.time_s > limit or request.time_s < 0)
        ):
            yield hit(
                settings["time"],
                f"--time is more than the {limit / 60:,.0f} minutes that {chosen.name} allows",
                f"--time={int(limit // 60)}",
            )
        most = chosen.number("MaxNodes")
        if most is None and chosen.fields.get("TotalNodes", "").isdecimal():
            most = int(chosen.fields["TotalNodes"])
        if most and request.nodes > most and "nodes" in settings:
            yield hit(
                settings["nodes"],
                f"--nodes={request.nodes} is more than the {most} of {chosen.name}",
                f"--nodes={most}",
            )
        total = chosen.number("TotalCPUs")
        most_cpus = next(
            (settings[n] for n in ("ntasks", "ntasks-per-node", "cpus-per-task") if n in settings),
            None,
        )
        if total and most_cpus and request.cpus > total:
            yield hit(most_cpus, f"{request.cpus} CPUs are more than the {total} of {chosen.name}")
        cap = chosen.number("MaxMemPerNode")
        place = _memory_place(job)
        if cap and place and (request.node_memory_mb or 0) > cap:
            yield hit(place, f"{chosen.name} allows {cap:,} MB per node", f"--mem={cap}M")
    yield from _node_limits(job, chosen)
    array, most_array = request.array, job.site.config.get("MaxArraySize", "")
    if array and most_array.isdecimal():
        last = max(map(int, re.findall(r"\d+", re.sub(r"[:%]\d+", "", settings["array"].value))))
        if last >= int(most_array):
            yield hit(settings["array"], f"task {last} is not below MaxArraySize {most_array}")


def _memory_place(job: Job) -> Place | None:
    settings = job.submission.settings
    return next(
        (settings[n].place for n in ("mem", "mem-per-cpu", "mem-per-gpu") if n in settings), None
    )


def _node_limits(job: Job, chosen: Partition | None) -> Iterator[Hit]:
    assert job.site is not None
    settings, request = job.submission.settings, job.submission.request
    named = settings["partition"].value.split(",") if "partition" in settings else []
    names = set(named) or ({chosen.name} if chosen else set())
    nodes = [
        n for n in job.site.nodes if not names or not n.partitions - {""} or n.partitions & names
    ]
    if not nodes:
        return
    where = f"a node of {', '.join(sorted(names))}" if names else "a node"
    place = _memory_place(job)
    largest = max(one.memory_mb for one in nodes)
    if place and largest and (request.node_memory_mb or 0) > largest:
        yield hit(
            place,
            f"{request.node_memory_mb:,} MB are more than {where} has: {largest:,} MB",
            f"--mem={largest}M at most",
        )
    cpus = max(one.cpus for one in nodes)
    each = request.cpus_per_task
    option = "cpus-per-task"
    if "ntasks-per-node" in settings or ("ntasks" in settings and settings.get("nodes")):
        per = settings["ntasks-per-node"].value if "ntasks-per-node" in settings else ""
        per_node = int(per) if per.isdecimal() else -(-request.tasks // request.nodes)
        if "-" not in (settings["nodes"].value if "nodes" in settings else ""):
            each, option = each * per_node, "ntasks-per-node" if per else "ntasks"
    if cpus and each > cpus and (option in settings or "cpus-per-task" in settings):
        alone = each == request.cpus_per_task and "cpus-per-task" in settings
        at = settings["cpus-per-task"] if alone or option not in settings else settings[option]
        yield hit(at, f"{each} CPUs are more than {where} has: {cpus}")
    yield from _gpu_limits(job, nodes, where)
    known = {one.name for one in job.site.nodes}
    for name in re.split(
        r",(?![^\[]*\])", settings["nodelist"].value if "nodelist" in settings else ""
    ):
        if name and not re.search(r"[\[$/]", name) and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            yield hit(settings["nodelist"], f"there is no node {name}", near[0] if near else None)
    if "constraint" in settings:
        text = settings["constraint"].value
        have = frozenset().union(*(one.features for one in nodes))
        for feature in re.findall(r"[A-Za-z_][\w.-]*", text):
            if feature not in have and not re.search(r"[|()!*]", text):
                near = difflib.get_close_matches(feature, have, 1)
                yield hit(
                    settings["constraint"],
                    f"{where} with feature {feature} does not exist",
                    f"--constraint={near[0]}" if near else None,
                )


def _gpu_limits(job: Job, nodes: list[Node], where: str) -> Iterator[Hit]:
    settings = job.submission.settings
    for option in ("gres", "gpus-per-node", "gpus", "gpus-per-task"):
        if option not in settings:
            continue
        for kind, number in re.findall(
            r"(?:^|,)(?:gres[:/])?(?:gpu(?=:|,|$|\()):?([A-Za-z][\w.-]*)?:?(\d+)?"
            if option == "gres"
            else r"(?:^|,)(?:([A-Za-z][\w.-]*):)?(\d+)",
            settings[option].value,
        ):
            most = max(one.gpus.get(kind, 0) for one in nodes)
            count = int(number or 1)
            if not most:
                types = sorted({name for one in nodes for name in one.gpus if name})
                what = f"GPUs of type {kind}" if kind else "GPUs"
                near = difflib.get_close_matches(kind, types, 1) if kind else []
                fix = f"{near[0]}?" if near else f"types: {', '.join(types)}" if types else None
                yield hit(settings[option], f"{where} with {what} does not exist", fix)
            elif count > most and option in ("gres", "gpus-per-node"):
                yield hit(settings[option], f"{count} GPUs are more than {where} has: {most}")


_GPU_TEXT = re.compile(
    r"cuda|gpu|torch|tensorflow|jax|cupy|numba|nvidia|rapids|cudf|gmx|amber|namd|lammps|\blmp|nvcc|--nv\b|"
    r"rocm|hip|keras|relion|alphafold|vllm|deepspeed|accelerate|onnx|triton|opencl|acc\b|vasp|gromacs|openmm|"
    r"apptainer|singularity|docker|conda|module load|source |julia|matlab",
    re.IGNORECASE,
)


@rule(
    "JS213 GPUs are asked for and never used",
    fails="#SBATCH --gres=gpu:1\nsort -n /etc/passwd > sorted.txt\n",
    passes="#SBATCH --gres=gpu:1\nnvidia-smi\n",
    severity="warning",
)
def _unused_gpus(job: Job) -> Iterator[Hit]:
    """Only where all that runs is known, and none of it knows of GPUs."""
    if not job.is_slurm or not job.submission.request.gpus or not job.walk.complete:
        return
    name = next(
        (
            n
            for n in ("gres", "gpus", "gpus-per-node", "gpus-per-task")
            if n in job.submission.settings
        ),
        None,
    )
    texts = [one.text for one in job.walk.sources] or [job.text]
    for program in job.walk.programs:
        if program.source is None:
            return
        texts.append(program.source.text)
    body = "\n".join(re.sub(r"(?m)^\s*#.*$", "", text) for text in texts)
    known = all(_known(one, job) for one in job.commands)
    if name is not None and known and not _GPU_TEXT.search(body):
        setting = job.submission.settings[name]
        yield hit(setting, f"--{name}={setting.value}: nothing here uses a GPU", "leave it out")


def _known(command: Command, job: Job) -> bool:
    from jobsight.program.preflight.uses import HARMLESS
    from jobsight.program.shell.programs import interpreter_of

    name = PurePosixPath(command.name or "").name
    if not command.words or name in HARMLESS or name in job.walk.functions:
        return True
    return any(one.command is command for one in job.walk.programs) and bool(
        interpreter_of(name) or "/" in (command.name or "")
    )


@rule(
    "JS214 A GPU is used and was not asked for",
    fails="#SBATCH --mem=4G\npython3 - <<'EOF'\nm = make_model().cuda()\nEOF\n",
    passes="#SBATCH --gpus=1\npython3 - <<'EOF'\nm = make_model().cuda()\nEOF\n",
)
def _missing_gpus(job: Job) -> Iterator[Hit]:
    """``.cuda()``, ``device("cuda")`` without ``is_available``, CuPy; ``nvidia-smi``, ``--nv``."""
    if not job.is_slurm or job.submission.request.gpus or "gres" in job.submission.settings:
        return
    named = job.submission.value("partition") or ""
    if re.search(r"gpu|a100|v100|h100", named, re.I) or "tres-per-task" in job.submission.settings:
        return
    fix = "#SBATCH --gpus=1"
    for command in job.commands:
        nv = any(
            {"nv", "gpus"} & one.options.keys()
            for one in command.launchers
            if one.name in ("apptainer", "singularity", "docker")
        )
        if (command.name == "nvidia-smi" or nv) and not (command.checked or command.conditional):
            what = "nvidia-smi" if command.name == "nvidia-smi" else "--nv"
            yield hit(command, f"{what}, but the job has no GPU", fix)
    for program, text in job.pythons:
        if "is_available" in text.text or "device_count" in text.text:
            continue
        for node, around in text.nodes:
            if _needs_gpu(node) and not any(
                isinstance(up, ast.Try | ast.If | ast.IfExp) for up in around
            ):
                place = Place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
                yield hit(
                    place, "this needs a GPU, and the job has none", fix, source=program.source
                )
                break


def _needs_gpu(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(one.name.partition(".")[0] in ("cupy", "cudf", "pycuda") for one in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in ("cupy", "cudf", "pycuda")
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.args:
            return True
        given = [*node.args, *(one.value for one in node.keywords)]
        return any(
            isinstance(one, ast.Constant)
            and isinstance(one.value, str)
            and re.fullmatch(r"cuda(?::\d)?|/gpu:\d|/device:GPU:\d", one.value, re.I)
            for one in given
        )
    return False


@rule(
    "JS215 No memory or time is asked for",
    fails="#SBATCH --partition=long\necho hello\n",
    passes="#SBATCH --partition=long --time=60\necho hello\n",
    severity="warning",
)
def _nothing_asked(job: Job) -> Iterator[Hit]:
    """Where the site's default is small, or there is none and the job would take the longest."""
    chosen = _partition(job) if job.is_slurm else None
    if chosen is None or "time" in job.submission.settings:
        return
    default = chosen.fields.get("DefaultTime", "")
    if default == "NONE" and (chosen.time_s is None or chosen.time_s > 86400):
        first = min((one.place for one in job.submission.settings.values()), default=Place(1))
        yield hit(
            first,
            f"no --time: {chosen.name} then takes its longest, and backfill cannot place it",
            "#SBATCH --time=HH:MM:SS",
        )


@rule(
    "JS216 The number of an array task is used, and there is no array",
    fails="#SBATCH --mem=1G\nset -u\necho $SLURM_ARRAY_TASK_ID\n",
    passes="#SBATCH --mem=1G\n#SBATCH --array=1-3\nset -u\necho $SLURM_ARRAY_TASK_ID\n",
)
def _no_array(job: Job) -> Iterator[Hit]:
    """It is unset, unless sbatch is called with ``--array``."""
    if (
        not job.is_slurm
        or "array" in job.submission.settings
        or re.search(r"ARRAY_TASK_ID\}?:?[-+?=]|\[ -[nz] .*ARRAY_TASK_ID|sbatch.*--array", job.text)
    ):
        return
    for number, line in enumerate(job.text.split("\n"), 1):
        if re.search(r"\$\{?SLURM_ARRAY_TASK_ID\b", line) and not line.lstrip().startswith("#"):
            yield hit(
                number, "there is no --array: SLURM_ARRAY_TASK_ID is unset", "#SBATCH --array=1-10"
            )
            return


@rule(
    "JS217 The job waits longer than its time limit",
    fails="#SBATCH --time=10\nsleep 3600\n",
    passes="#SBATCH --time=2:00:00\nsleep 3600\n",
)
def _too_long(job: Job) -> Iterator[Hit]:
    """Constant times of ``sleep``, and of programs that end by themselves (``-maxh``)."""
    limit = job.submission.request.time_s if job.is_slurm else None
    if limit is None or limit < 0:
        return
    for command in job.commands:
        if command.background or command.conditional or command.checked:
            continue
        spans: list[float] = []
        for at, word in enumerate(command.arguments):
            found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", word.value or "")
            if command.name == "sleep" and found:
                spans.append(
                    float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]
                )
            elif found and command.arguments[at - 1].text == "-maxh":
                spans.append(float(found[1]) * 3600)
        if sum(spans) > limit:
            assert job.submission.settings["time"]
            named = job.submission.settings["time"]
            place, source = (
                (named.place, None) if command.name != "sleep" else (command.place, command.source)
            )
            yield hit(
                place,
                f"{sum(spans):,.0f} s are longer than --time={named.value}: {limit:,} s",
                "#SBATCH --time=HH:MM:SS",
                source=source,
            )
