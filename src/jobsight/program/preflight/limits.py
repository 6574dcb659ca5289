"""JS210–JS212, JS215: what is asked for, against what the job allocates and the cluster has."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from jobsight.program.preflight.condorjob import CondorJob
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText, dotted
from jobsight.program.shell.model import Source
from jobsight.program.site import Node, Partition
from jobsight.program.submission.job import Place
from jobsight.program.submission.proposals import Ceilings, proposed
from jobsight.program.submission.sbatch import memory_mb
from jobsight.program.tree.expressions import KnownValues, evaluated
from jobsight.text import meant, wordset

__all__ = ["allocations", "ceilings", "other_allocations"]

_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")


@rule("JS210 More memory is allocated than was asked for")
def _memory(job: Job) -> Iterator[Hit]:
    """Constant sizes in Python programs, ``-Xmx`` of Java, buffers of sort and stress."""
    asked = _memory_mb(job)
    if not asked:
        return
    for program, text in job.pythons:
        for node, size in allocations(text):
            if size > asked * 2**20:
                message = f"this allocates {size / 2**20:,.0f} MB, the job has {asked:,} MB"
                yield hit(node, message, _more(size, job), source=program.source)
    # Of programs in other languages, and of options of commands
    for program, source in job.sources:
        used = partial(_used, job, source)
        for line, size in other_allocations(source.text, program.language or "", used):
            if size > asked * 2**20:
                message = f"this allocates {size / 2**20:,.0f} MB, the job has {asked:,} MB"
                yield hit(line, message, _more(size, job), source=source)
    for command in job.commands:
        words = command.words if command.name not in ("sbatch", "salloc") else ()
        for word, before in zip(words, ("", *(one.text for one in words)), strict=False):
            found = re.fullmatch(r"-Xm[xs](\d+)([kmgKMG])", word.text)
            form = r"--?(?:vm-bytes|buffer-size|memory|mem|max-memory)=?(\d+)([kmgKMG])b?"
            found = found or re.fullmatch(form, word.text)
            if not found and command.name == "sort" and before in ("-S", "--buffer-size"):
                found = re.fullmatch(r"(\d+)([kmgKMG])", word.text)
            if found:
                size = int(found[1]) << {"k": 10, "m": 20, "g": 30}[found[2].lower()]
                if size > asked * 2**20:
                    message = f"{word.text}, but the job has {asked:,} MB"
                    yield hit(word, message, _more(size, job), source=command.source)


def _used(job: Job, source: Source, name: str) -> str:
    """The text of a header, or of the program that has a module of Fortran."""
    if "." in name:
        return job.machine.text(f"{source.folder}/{name}") or ""
    texts = (one.text for _, one in job.sources)
    return next((one for one in texts if re.search(rf"(?im)^[ \t]*module\s+{name}\b", one)), "")


def ceilings(job: Job | CondorJob) -> Ceilings:
    """The most that a job may ask for where it is submitted to."""
    if job.site is None:
        return Ceilings()
    if isinstance(job, CondorJob) or not job.is_slurm:
        return Ceilings(job.site.largest_slot.get("RequestMemory"))
    return job.site.ceilings(_partitions(job))


def _more(size: float, job: Job) -> str:
    """What to ask for, for so many bytes."""
    most, asked = ceilings(job).memory_mb, _memory_mb(job) or 0
    amount = proposed(size * 1.1 / 2**20, had=[asked], used=size / 2**20, most=most, step=1024)
    if amount is None:
        return f"allocate less: no node known has more than {most:,.0f} MB"
    name = "#SBATCH --mem=" if job.is_slurm else "request_memory = "
    return f"{name}{amount}M" if amount % 1024 else f"{name}{amount // 1024}G"


def _memory_mb(job: Job) -> int | None:
    """MB that a node of the job has for it; None: unknown, 0: all."""
    if not job.is_slurm:
        return job.memory
    request = job.submission.request
    if request.node_memory_mb is not None:
        return request.node_memory_mb
    partition = _partition(job)
    for fields in (partition.fields if partition else {}, job.site.config if job.site else {}):
        each = fields.get("DefMemPerNode", fields.get("defmempernode", ""))
        if each.isdecimal():
            return int(each)
        each = fields.get("DefMemPerCPU", fields.get("defmempercpu", ""))
        if each.isdecimal():
            return int(each) * request.cpus
    return None


def _partition(job: Job) -> Partition | None:
    names = _partitions(job)
    if job.site is None:
        return None
    return job.site.partitions.get(names[0]) if names else job.site.default_partition


def _partitions(job: Job) -> list[str]:
    """The partitions that are named."""
    named = job.submission.value("partition")
    return [] if named is None else named.split(",")


@rule("JS211 The partition is not there, or does not take the job")
def _partition_refuses(job: Job) -> Iterator[Hit]:
    """Names, states, accounts, qualities of service."""
    if not job.is_slurm or job.site is None or not job.site.partitions:
        return
    settings = job.submission.settings
    named = settings.get("partition")
    names = _partitions(job)
    for name in names:
        if name not in job.site.partitions and named is not None:
            near = meant(name, job.site.partitions)
            have = ", ".join(sorted(job.site.partitions)[:8])
            fix = f"--partition={near}" if near else f"one of {have}"
            yield hit(named, f"there is no partition {name}", fix)
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
            message = f"partition {chosen.name} does not take {option} {settings[option].value}"
            others = f"one of {allowed[:100]}" if allowed not in ("", "ALL") else None
            yield hit(settings[option], message, others)


@rule("JS212 More is asked for than the partition allows or has")
def _limits(job: Job) -> Iterator[Hit]:
    """Time, nodes, CPUs, memory, GPUs, features, size of arrays: the job would wait for ever."""
    if not job.is_slurm or job.site is None:
        return
    chosen = _partition(job)
    settings, request = job.submission.settings, job.submission.request
    if chosen is not None and len(_partitions(job)) < 2:
        limit, time = chosen.time_s, request.time_s
        if limit is not None and time is not None and (time > limit or time < 0):
            message = f"--time is more than the {limit / 60:,.0f} minutes that {chosen.name} allows"
            yield hit(settings["time"], message, f"--time={int(limit // 60)}")
        most = chosen.number("MaxNodes")
        if most is None and chosen.fields.get("TotalNodes", "").isdecimal():
            most = int(chosen.fields["TotalNodes"])
        if most and request.nodes > most and "nodes" in settings:
            message = f"--nodes={request.nodes} is more than the {most} of {chosen.name}"
            yield hit(settings["nodes"], message, f"--nodes={most}")
        cpus, cap = chosen.number("TotalCPUs"), chosen.number("MaxMemPerNode")
        place = job.submission.first("ntasks", "ntasks-per-node", "cpus-per-task")
        if cpus and place and request.cpus > cpus:
            yield hit(place, f"{request.cpus} CPUs are more than the {cpus} of {chosen.name}")
        place = job.submission.first(*_MEMORY)
        if cap and place and (request.needed_memory_mb or 0) > cap:
            yield hit(place, f"{chosen.name} allows {cap:,} MB per node")
    yield from _node_limits(job, chosen)
    array, most_array = request.array, job.site.config.get("maxarraysize", "")
    if array and most_array.isdecimal():
        last = max(map(int, re.findall(r"\d+", re.sub(r"[:%]\d+", "", settings["array"].value))))
        if last >= int(most_array):
            yield hit(settings["array"], f"task {last} is not below MaxArraySize {most_array}")


def _node_limits(job: Job, chosen: Partition | None) -> Iterator[Hit]:
    assert job.site is not None
    request = job.submission.request
    nodes = job.site.nodes_of(_partitions(job))
    names = set(_partitions(job)) or ({chosen.name} if chosen else set())
    if not nodes:
        return
    where = f"a node of {', '.join(sorted(names))}" if names else "a node"
    place = job.submission.first(*_MEMORY)
    largest = max(one.memory_mb for one in nodes)
    needed = request.needed_memory_mb or 0
    if place and largest and needed > largest:
        message = f"{needed:,} MB are more than {where} has: {largest:,} MB"
        most = largest * (memory_mb(place.value) or 0) // needed
        yield hit(place, message, f"--{place.name}={most}M at most")
    cpus = max(one.cpus for one in nodes)
    each = request.cpus_per_task * request.node_tasks
    named = ["ntasks-per-node", "ntasks", "nodes"] if request.node_tasks > 1 else []
    at = job.submission.first(*named, "cpus-per-task")
    if at is not None and cpus and each > cpus:
        yield hit(at, f"{each} CPUs are more than {where} has: {cpus}")
    yield from _gpu_limits(job, nodes, where)
    # Nodes and features that are named
    settings = job.submission.settings
    known = {one.name for one in job.site.nodes}
    for name in re.split(r",(?![^\[]*\])", job.submission.value("nodelist") or ""):
        if name and not re.search(r"[\[$/]", name) and name not in known:
            yield hit(settings["nodelist"], f"there is no node {name}", meant(name, known))
    if "constraint" in settings:
        text = settings["constraint"].value
        have = frozenset().union(*(one.features for one in nodes))
        for feature in re.findall(r"[A-Za-z_][\w.-]*", text):
            if feature not in have and not re.search(r"[|()!*]", text):
                near = meant(feature, have)
                message = f"{where} with feature {feature} does not exist"
                yield hit(settings["constraint"], message, near and f"--constraint={near}")


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
                near = meant(kind, types) if kind else None
                fix = f"{near}?" if near else f"types: {', '.join(types)}" if types else None
                yield hit(settings[option], f"{where} with {what} does not exist", fix)
            elif count > most and option in ("gres", "gpus-per-node"):
                yield hit(settings[option], f"{count} GPUs are more than {where} has: {most}")


@rule("JS215 No memory or time is asked for", severity="warning")
def _nothing_asked(job: Job) -> Iterator[Hit]:
    """Where the site's default is small, or there is none and the job would take the longest."""
    chosen = _partition(job) if job.is_slurm else None
    if chosen is None or "time" in job.submission.settings:
        return
    default = chosen.fields.get("DefaultTime", "")
    if default == "NONE" and (chosen.time_s is None or chosen.time_s > 86400):
        first = min((one.place for one in job.submission.settings.values()), default=Place(1))
        message = f"no --time: {chosen.name} then takes its longest, and backfill cannot place it"
        yield hit(first, message, "#SBATCH --time=HH:MM:SS")


_SHAPED = wordset(
    "zeros ones empty full rand randn random random_sample standard_normal eye uniform normal "
    "arange linspace"
)
_BY_SIZE = {
    16: "complex128",
    8: "float64 float int64 int double complex64 uint64",
    4: "float32 int32 single uint32",
    2: "float16 int16 uint16 half bfloat16",
    1: "uint8 int8 bool bool_",
}
_SIZES = {name: size for size, names in _BY_SIZE.items() for name in names.split()}
_ARRAY_MODULES = ("np", "numpy", "torch", "cupy", "rng")
_SMALLEST = 1 << 20


def allocations(text: PythonText) -> Iterator[tuple[ast.expr, float]]:
    """Expressions that allocate at least 1 MiB, with their bytes."""
    for node, around in text.nodes:
        if not isinstance(node, ast.expr) or any(isinstance(one, ast.BinOp) for one in around[-1:]):
            continue
        size = _size(node, text)
        if size is not None and size >= _SMALLEST:
            yield node, size


def _size(node: ast.expr, text: PythonText) -> float | None:
    if isinstance(node, ast.Call):
        return _call_size(node, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for left, right in ((node.left, node.right), (node.right, node.left)):
            count = text.number(right)
            if count is None:
                continue
            if isinstance(left, ast.Constant) and isinstance(left.value, str | bytes):
                return len(left.value) * count
            if isinstance(left, ast.List):
                return 8 * len(left.elts) * count
            inner = _size(left, text) if isinstance(left, ast.BinOp | ast.Call) else None
            if inner is not None:
                return inner * count
    return None


def _call_size(node: ast.Call, text: PythonText) -> float | None:
    name = dotted(node.func)
    first = node.args[0] if node.args else None
    if name in ("bytearray", "bytes"):
        if isinstance(first, ast.Constant) and isinstance(first.value, bytes):
            return len(first.value)
        return text.number(first)
    if name == "list" and isinstance(first, ast.Call) and dotted(first.func) == "range":
        count = text.number(first.args[-1]) if 0 < len(first.args) < 3 else None
        return None if count is None else 36 * count
    module, _, function = name.rpartition(".")
    known = function in _SHAPED and module.partition(".")[0] in _ARRAY_MODULES
    shape = _shape(node, function, text) if known else None
    if shape is None:
        return None
    default = 4 if module.startswith("torch") else 8
    return math.prod(shape) * _item(node, default)


def _shape(node: ast.Call, function: str, text: PythonText) -> list[float] | None:
    keywords = {one.arg: one.value for one in node.keywords}
    first: ast.expr | None = keywords.get("size") or keywords.get("shape")
    if first is None:
        if function in ("uniform", "normal") or function == "linspace":
            first = node.args[2] if len(node.args) > 2 else None
        elif node.args:
            first = node.args[0]
    given = [first] if first is not None else []
    second = node.args[1] if len(node.args) > 1 else None
    several = isinstance(second, ast.Constant | ast.Name) and text.number(second) is not None
    if function in ("rand", "randn") or (function in ("zeros", "ones") and several):
        given = list(node.args)
    if function == "eye" and given:
        given = [given[0], given[0]]
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        given = list(given[0].elts)
    if function == "arange" and len(node.args) > 1:
        return None
    numbers = [text.number(one) for one in given]
    known = [one for one in numbers if one is not None]
    return known if known and len(known) == len(numbers) else None


def _item(node: ast.Call, default: int) -> int:
    for one in node.keywords:
        if one.arg == "dtype":
            name = one.value.value if isinstance(one.value, ast.Constant) else dotted(one.value)
            return _SIZES.get(str(name).rpartition(".")[2], default)
    return default


_C_SIZES = {"char": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8, "size_t": 8} | {
    f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_OF_C = rf"\b({'|'.join(_C_SIZES)})"
_NESTED = r"((?:[^();]|\((?:[^()]|\([^()]*\))*\))*)"
_C_ARRAY = re.compile(rf"{_OF_C}\s+\w+\s*((?:\[\s*[\w* ]+\s*\])+)\s*[;=]")
_C_NEW = re.compile(rf"\bnew\s+{_OF_C}\s*\[([^\];]+)\]")
_VECTOR = re.compile(rf"\bvector\s*<\s*{_OF_C}\s*>\s*\w*\s*\({_NESTED}\)")
_C_CALL = re.compile(rf"\b(?:malloc|calloc)\s*\({_NESTED}\)")
_JULIA_SIZES = {f"{kind}{bits}": bits // 8 for kind in ("Float", "Int", "UInt")
                for bits in (8, 16, 32, 64)} | {"ComplexF64": 16, "ComplexF32": 8}  # fmt: skip
_JULIA = re.compile(
    r"\b(?:(?:zeros|ones|rand|randn)\(|Array\{)(?:rng,\s*)?"
    r"(?:([A-Z]\w+)\b(?:,\s*\d\}\(undef)?,)?([^;]*?)\)"
)
_R_SIZED = {"matrix": "data nrow ncol", "array": "data dim", "rep": "x times",
            "vector": "mode length",
            **dict.fromkeys(("numeric", "double", "integer", "logical"), "length"),
            **dict.fromkeys(("rnorm", "runif", "rexp"), "n")}  # fmt: skip
"""The first parameters of functions of R."""
_R_CALL = re.compile(rf"\b({'|'.join(_R_SIZED)})\s*\({_NESTED}\)")
_MATLAB = re.compile(rf"\b(?:zeros|ones|rand|randn|nan|NaN|eye)\({_NESTED}\)")
_FORTRAN_TYPE = re.compile(
    r"\s*(real|integer|complex|logical|double\s+precision)\s*(?:\*\s*(\d+)|\(([^)]*)\))?"
    r"\s*(?:,[^:]*(?:\([^)]*\)[^:]*)*)?::(.*)", re.I,
)  # fmt: skip
_FORTRAN_ARRAY = re.compile(r"(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)")
_USED = re.compile(r"^[ \t]*use\s*(?:::)?\s*(\w+)|^[ \t]*#\s*include\s*\"([^\"]+)\"", re.M | re.I)


def other_allocations(
    text: str, language: str, others: Callable[[str], str]
) -> Iterator[tuple[int, float]]:
    """Lines of a program that allocate a constant amount of at least 1 MiB, with the bytes.

    Args:
        text: of the program.
        language: of it; of those that are not known here nothing is found.
        others: the text of a module or header that it uses; empty: it is not known.
    """
    if language not in _FINDERS:
        return
    used = [others(one or other) for one, other in _USED.findall(text)]
    known = _constants("\n".join([text, *used]), language)
    for line, size in _FINDERS[language](text, known):
        if size >= _SMALLEST:
            yield line, size


def _constants(text: str, language: str) -> dict[str, float]:
    """Names that stand for one number; those of Fortran in lower case."""
    if language == "fortran":
        plain = "\n".join(re.findall(r"(?im)^.*\bparameter\b.*$", re.sub(r"!.*", "", text)))
        kinds = {"real64": 8.0, "int64": 8.0, "real32": 4.0, "int32": 4.0, "real128": 16.0}
        for name, digits in re.findall(r"(\w+)\s*=\s*selected_real_kind\s*\(\s*(\d+)", plain, re.I):
            kinds[name.lower()] = 4.0 if int(digits) <= 6 else 8.0
        for name in re.findall(r"(\w+)\s*=\s*kind\s*\(\s*[\d.]+d", plain, re.I):
            kinds[name.lower()] = 8.0
        return {**KnownValues(plain.lower(), language).constants, **kinds}
    found = dict(KnownValues(text, language).constants)
    for name, value in re.findall(r"^[ \t]*#\s*define\s+(\w+)[ \t]+(\S.*)$", text, re.M):
        if (number := evaluated(value, found)) is not None:
            found[name] = number
    return found


def _of_c(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    total, kept = 0.0, not re.search(r"\bfree\s*\(", text)
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.partition("//")[0]
        for found in _C_ARRAY.finditer(plain):
            counts = re.findall(r"\[([^\]]+)", found[2])
            yield from _counted(number, _C_SIZES[found[1]], counts, known)
        for found in (*_C_NEW.finditer(plain), *_VECTOR.finditer(plain)):
            count = _items(found[2])[:1]
            yield from _counted(number, _C_SIZES[found[1]], count, known)
        for found in _C_CALL.finditer(plain):
            sizes = r"sizeof\s*\(\s*(\w+)\s*\)"
            inner = re.sub(sizes, lambda m: str(_C_SIZES.get(m[1], m[1])), found[1])
            inner = re.sub(r"sizeof\s*\(?\s*\*\s*(\w+)\s*\)?", partial(_pointed, text), inner)
            for _, size in _counted(number, 1, _items(inner), known):
                total = total + size if kept else size
                yield number, total


def _of_julia(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _JULIA.finditer(line.partition("#")[0]):
            size = _JULIA_SIZES.get(found[1] or "Float64", 8)
            yield from _counted(number, size, _items(found[2]), known)


def _of_r(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    for number, line in enumerate(text.split("\n"), 1):
        for name, inner in _R_CALL.findall(line.partition("#")[0]):
            items = [re.split(r"(?<=\w)\s*=(?!=)", one, maxsplit=1) for one in _items(inner)]
            given = {one[0].strip(): one[1].strip() for one in items if len(one) > 1}
            free = iter([one[0].strip() for one in items if len(one) == 1])
            values = {key: given.get(key) or next(free, "") for key in _R_SIZED[name].split()}
            kind = values.pop("data", "") or values.pop("x", "") or values.pop("mode", name)
            small = re.search(r"integer|logical|\d+L$|^(?:NA|TRUE|FALSE)$", kind)
            counts = [re.sub(r"(?<=\d)L\b", "", one) for one in values.values()]
            if name == "array":
                counts = _items(re.sub(r"^c\(|\)$", "", counts[0]))
            if name != "rep" or re.fullmatch(r"[\d.]+L?|NA|TRUE|FALSE", kind):
                yield from _counted(number, 4 if small else 8, counts, known)


def _of_matlab(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    """Of one extent both are the same."""
    for number, line in enumerate(text.split("\n"), 1):
        for inner in _MATLAB.findall(line.partition("%")[0]):
            counts = [one for one in _items(inner) if not one.strip().startswith(("'", '"'))]
            counts = counts * 2 if len(counts) == 1 else counts
            size = next((n for kind, n in _SIZES.items() if re.search(rf"['\"]{kind}\b", inner)), 8)
            yield from _counted(number, size, counts, known)


def _of_fortran(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    """Arrays of a size of their own; what is allocated and never freed adds up."""
    sizes: dict[str, float] = {}
    total, kept = 0.0, not re.search(r"\bdeallocate\b", text, re.I)
    for number, line in enumerate(text.lower().split("\n"), 1):
        plain = line.partition("!")[0]
        if found := _FORTRAN_TYPE.match(plain):
            size = 8.0 if found[1].startswith("double") else 4.0
            kind = (found[3] or found[2] or "").rpartition("=")[2].strip()
            size = (evaluated(kind, known) or size) * (2 if found[1] == "complex" else 1)
            for name, dims in _FORTRAN_ARRAY.findall(found[4]):
                sizes[name] = size
                yield from _counted(number, size, map(_extent, _items(dims)), known)
        elif given := re.match(r"\s*allocate\s*\((.*)\)", plain):
            for name, dims in _FORTRAN_ARRAY.findall(given[1]):
                extents = map(_extent, _items(dims))
                for _, size in _counted(number, sizes.get(name, 4.0), extents, known):
                    total = total + size if kept else max(total, size)
            yield number, total


def _extent(bounds: str) -> str:
    low, colon, high = bounds.partition(":")
    return f"({high})-({low})+1" if colon and low.strip() and high.strip() else bounds


def _items(text: str) -> list[str]:
    parts = re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", text)
    return [one for one in parts if one.strip()]


def _counted(
    line: int, size: float, counts: Iterable[str], known: Mapping[str, float]
) -> Iterator[tuple[int, float]]:
    """Line and bytes of an array, if all its extents are known."""
    numbers = [evaluated(one, known) for one in counts]
    sizes = [one for one in numbers if one is not None and one > 0]
    if sizes and len(sizes) == len(numbers):
        yield line, size * math.prod(sizes)


def _pointed(text: str, size_of: re.Match[str]) -> str:
    """The bytes of ``sizeof *name``, by its only declaration."""
    form = rf"{_OF_C}\s*(?:\*\s*\w+\s*,\s*)*\*\s*(?:restrict\s+)?{size_of[1]}\b"
    found = set(re.findall(form, text))
    return str(_C_SIZES[found.pop()]) if len(found) == 1 else size_of[1]


_FINDERS = {"c": _of_c, "cpp": _of_c, "fortran": _of_fortran, "julia": _of_julia,
            "matlab": _of_matlab, "r": _of_r}  # fmt: skip
