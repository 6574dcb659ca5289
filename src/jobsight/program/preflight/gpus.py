"""JS213, JS214, JS219, JS220: GPUs that are asked for against those that are used."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeGuard

from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import OTHER_SHELLS, Job
from jobsight.program.preflight.packages import R_PACKAGES
from jobsight.program.python import PythonText, dotted, within
from jobsight.program.submission.job import Place
from jobsight.text import wordset

if TYPE_CHECKING:
    from jobsight.program.shell.model import Command, Source


__all__: list[str] = []

_GPU_TEXT = re.compile(
    r"cuda|gpu|torch|tensorflow|jax|cupy|cuml|numba|nvidia|rapids|cudf|gmx|amber|namd|lammps|\blmp|nvcc|--nv\b|"
    r"rocm|\bhip|keras|relion|alphafold|vllm|deepspeed|accelerate|onnx|triton|opencl|[a!$]\W?acc\b|vasp|gromacs"
    r"|openmm|apptainer|singularity|docker|julia|matlab",
    re.IGNORECASE,
)
_SETS_UP = re.compile(
    r"(?m)^[ \t]*(?:(?:module|ml|source|\.|\w*(?:conda|mamba) (?:de)?activate|nvidia-smi)(?!\S)"
    r"[^;&|\n]*|export CUDA_VISIBLE_DEVICES=\S*)"
)
"""Lines of a script that choose where its programs come from, or show the node."""
_FOR_CPUS = sys.stdlib_module_names | wordset(
    "numpy scipy pandas sklearn statsmodels matplotlib seaborn networkx joblib tqdm yaml requests "
    "h5py netCDF4 xarray astropy Bio sympy PIL cv2 polars pyarrow psutil zarr pysam geopandas "
    "rasterio mpi4py emcee nltk gensim"
)
"""Modules of Python that use no GPU by themselves."""
_RUNS_MORE = re.compile(
    r"\bsubprocess\b|\bsystem2?\s*\(|\bos\.(?:exec|spawn|popen)|\bqx\b|import_module|__import__|runpy|ctypes"
)
_R_LOADS = re.compile(r"\b(?:library|require\w*)\(\s*[\"']?([\w.]+)|\b([\w.]+)::")


_GPU_USED = re.compile(
    r"cuda|gpu|torch|tensorflow|\bjax|cupy|alphafold|vllm|relion|parabricks", re.I
)


@rule("JS213 GPUs are asked for and never used", severity="warning")
def _unused_gpus(job: Job) -> Iterator[Hit]:
    """Only where all that runs is known, and none of it knows of GPUs."""
    if not job.is_slurm or not job.submission.request.gpus or not job.walk.complete:
        return
    if job.language in OTHER_SHELLS or any(one.server for one in job.endless):
        return  # what it starts is not known, or is for who comes to the node
    setting = job.submission.first("gres", "gpus", "gpus-per-node", "gpus-per-task")
    texts = [one.text for one in job.walk.sources] or [job.text]
    if job.walk.programs:
        texts = [_SETS_UP.sub("", text) for text in texts]
    built = {w.text for one in job.commands if _compiles(one) for w in one.arguments}
    for program in job.walk.programs:
        word = program.word.text.removeprefix("./") if program.word else ""
        if program.source is None and word not in built:
            return
        texts += [program.source.text] if program.source is not None else []
    texts += [text.text for _, text in job.pythons]
    body = "\n".join(re.sub(r"(?m)^[ \t]*#.*$", "", text) for text in texts)
    known = all(_known(one, job) for one in job.commands) and _for_cpus(job)
    if setting is not None and known and not _GPU_TEXT.search(body):
        message = f"--{setting.name}={setting.value}: nothing here uses a GPU"
        yield hit(setting, message, "leave it out")


def _for_cpus(job: Job) -> bool:
    """Whether all packages of its Python and R programs are for CPUs, and these start no others."""
    texts = [source.text for one, source in job.sources if one.language == "r"]
    loaded = {one or other for text in texts for one, other in _R_LOADS.findall(text)}
    texts = [job.program_texts, *(text.text for _, text in job.pythons)]
    imports = ((one, program) for program, text in job.pythons for one in text.imports)
    known = all(one.name in _FOR_CPUS or job.local_module(one.full, program)[1] is not None
                for one, program in imports)  # fmt: skip
    return known and loaded <= R_PACKAGES and not any(map(_RUNS_MORE.search, texts))


def _compiles(command: Command) -> bool:
    """Whether it is a compiler that builds for CPUs alone."""
    plain = re.fullmatch(r"(?:gcc|g\+\+|cc|c\+\+|gfortran)(?:-\d+)?", command.name or "")
    texts = [one.text for one in command.arguments]
    return bool(plain) and not any(one.startswith(("-foffload", "-fopenacc")) for one in texts)


def _known(command: Command, job: Job) -> bool:
    from jobsight.program.preflight.files import HARMLESS
    from jobsight.program.shell.programs import interpreter_of

    name = command.bare
    if not command.words or name in HARMLESS or name in job.walk.functions or _compiles(command):
        return True
    if _SETS_UP.match(" ".join(one.text for one in command.words)):
        return True
    runs = any(one.command is command for one in job.walk.programs)
    return runs and bool(interpreter_of(name) or "/" in (command.name or ""))


@rule("JS214 A GPU is used and was not asked for")
def _missing_gpus(job: Job) -> Iterator[Hit]:
    """``.cuda()``, ``device("cuda")`` without ``is_available``, CuPy; ``nvidia-smi``, ``--nv``.

    Programs that the job compiles for GPUs, or that are called with options for them.
    """
    submission = job.submission
    if not job.is_slurm or submission.request.gpus or submission.components > 1:
        return
    # With --exclusive, but not with =user or =mcs, a job gets all GPUs of its nodes (man sbatch).
    whole = submission.value("exclusive") in ("", "true")
    if whole or submission.first("gres", "tres-per-task"):
        return
    named = f"{submission.value('partition')} {submission.value('constraint')}"
    gres = job.site is not None and any(one.gpus for one in job.site.nodes)
    # Some sites give the jobs of such a partition a GPU that they do not ask for.
    given = re.search(r"gpu|a100|v100|h100", named, re.I) and not gres
    severity: Severity | None = "warning" if given else None
    fix = "#SBATCH --gpus=1"
    for command in job.commands:
        nv = any({"nv", "gpus"} & one.options.keys() for one in command.launchers
                 if one.name in ("apptainer", "singularity", "docker"))  # fmt: skip
        called = _GPU_CALL.search(" ".join(one.text for one in command.words))
        what = "nvidia-smi" if command.name == "nvidia-smi" else "--nv" if nv else None
        what = called[0].strip() if called else what
        if what and not (command.checked or command.conditional):
            message = f"{what}, but the job has no GPU"
            yield hit(command, message, fix, severity=severity, source=command.source)
    for command in _compiled(job):
        message = f"{command.words[0].text} is compiled for a GPU, and the job asks for none"
        yield hit(command, message, fix, severity=severity, source=command.source)
    for program, text in job.pythons:
        if "is_available" in text.text or "device_count" in text.text:
            continue
        for node, around in text.nodes:
            if _needs_gpu(node) and not within(around, ast.Try, ast.If, ast.IfExp):
                message = "this needs a GPU, and the job asks for none"
                yield hit(node, message, fix, severity=severity, source=program.source)
                break


_GPU_CALL = re.compile(
    r"^pmemd\.cuda\S*|\s-(?:nb|pme|bonded|update|sf|suffix) gpu\b|\s-(?:k|kokkos) on g [1-9]"
)
"""Amber; options of GROMACS and LAMMPS."""
_KERNEL = re.compile(r"<<<|\b(?:cuda|hip)Malloc|\bthrust::device|\b(?:cu|hip)(?:blas|fft)\w+\(")
_COUNTS_GPUS = re.compile(r"\b(?:cuda|hip)GetDevice(?:Count)?\(")


def _compiled(job: Job) -> Iterator[Command]:
    """Commands that start what the job compiles for GPUs, or what has the name of such a source."""
    for program in job.walk.programs:
        command, path = program.command, program.path
        name = PurePosixPath(path or "").name
        if program.source or program.interpreter or path is None or command.checked:
            continue
        built = job.compiled.get(id(command), [])
        cuda = any((one.interpreter or "").endswith(("nvcc", "hipcc")) for one in built)
        text = job.program_texts if cuda else ""
        folders = {os.path.dirname(path), command.folder, f"{command.folder}/src"}  # noqa: PTH120
        for one in () if built else folders:
            here = [end for end in (".cu", ".c", ".cc", ".cpp", ".f90")
                    if job.machine.exists(f"{one}/{name}{end}")]  # fmt: skip
            text += (job.machine.text(f"{one}/{name}.cu") or "") if here == [".cu"] else ""
        if _KERNEL.search(text) and not _COUNTS_GPUS.search(text) and not command.conditional:
            yield command


def _needs_gpu(node: ast.AST) -> TypeGuard[ast.stmt | ast.expr]:
    if isinstance(node, ast.Import):
        return any(one.name.partition(".")[0] in ("cupy", "cudf", "pycuda") for one in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in ("cupy", "cudf", "pycuda")
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.args:
            return True
        given = [*node.args, *(one.value for one in node.keywords)]
        texts = [str(one.value) for one in given if isinstance(one, ast.Constant)]
        return any(re.fullmatch(r"(?i)cuda(?::\d)?|/gpu:\d|/device:GPU:\d", one) for one in texts)
    return False


@rule("JS219 More GPUs are used than were asked for")
def _too_many_gpus(job: Job) -> Iterator[Hit]:
    """``CUDA_VISIBLE_DEVICES``, processes of torchrun on each node, options of srun."""
    gpus = job.submission.request.gpus if job.is_slurm else None
    if not gpus or "exclusive" in job.submission.settings:
        return
    each = max(1, gpus // job.submission.request.nodes)
    for number, line in job.code:
        listed = re.search(r"CUDA_VISIBLE_DEVICES=[\"']?(\d+(?:,\d+)*)", line)
        counted = re.search(r"--nproc[-_]per[-_]node[= ](\d+)|\bsrun\b.*--gpus[= ](\d+)", line)
        counted = counted or re.search(r"\bsrun\b.*--gres=gpu:(?:\w+:)?(\d+)()", line)
        used = int(counted[1] or counted[2]) if counted else 0
        if listed:
            used = max(map(int, listed[1].split(","))) + 1
        if used > each:
            yield _more(number, used, each, None)
    for program, text in job.pythons:
        if "device_count" in text.text or program.source is None:
            continue
        for node, around in text.nodes:
            used = _gpus_named(node, text)
            if used > each and not within(around, ast.Try, ast.If, ast.IfExp):
                yield _more(Place(getattr(node, "lineno", 1)), used, each, program.source)


def _more(at: Place | int, used: int, each: int, source: Source | None) -> Hit:
    message = f"GPU {used - 1} is used, the job has {each} on a node, from 0 on"
    return hit(at, message, f"--gpus={used}", source=source)


def _gpus_named(node: ast.AST, text: PythonText) -> int:
    """How many GPUs there must be: one more than the highest number that a node names."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = re.fullmatch(r"cuda:(\d+)|/?(?:device:)?GPU:(\d+)", node.value, re.I)
        return int(found[1] or found[2]) + 1 if found else 0
    if not isinstance(node, ast.Call):
        return 0
    most = 0
    if dotted(node.func).endswith("cuda.set_device") and node.args:
        most = int(text.number(node.args[0]) or 0) + 1
    for one in node.keywords:
        if one.arg == "device_ids" and isinstance(one.value, ast.List):
            most = max([most, *(int(text.number(n) or 0) + 1 for n in one.value.elts)])
        elif one.arg in ("devices", "gpus", "num_gpus", "n_gpus", "tensor_parallel_size"):
            most = max(most, int(text.number(one.value) or 0))
    return most


@rule("JS220 A container that does not see the GPUs")
def _blind_containers(job: Job) -> Iterator[Hit]:
    """Without ``--nv``, ``--rocm`` or ``--gpus``, where all that uses GPUs runs in containers."""
    if not job.is_slurm or not job.submission.request.gpus or re.search(
        r"--nv(?:ccli)?\b|--rocm|--gpus?\b.*\b(?:docker|podman)|_NV\b|NV=|NVIDIA_",
        re.sub(r"(?m)^#.*", "", job.text),
    ):  # fmt: skip
        return
    inside = [(one, launcher) for one in job.commands for launcher in one.launchers
              if launcher.name in ("apptainer", "singularity", "docker", "podman")]  # fmt: skip
    if any("gpus" in launcher.options or "device" in launcher.options for _, launcher in inside):
        return
    texts = [source.text for one, source in job.sources if one.command.contained]
    for command, launcher in inside:
        shown = " ".join(word.text for word in command.words) + launcher.options.get("image", "")
        if _GPU_USED.search("\n".join([shown, *texts])):
            flag = "--nv" if launcher.name in ("apptainer", "singularity") else "--gpus all"
            yield hit(launcher, f"without {flag} the container sees no GPU", flag,
                      source=command.source)  # fmt: skip
