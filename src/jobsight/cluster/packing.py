"""A relocatable environment in one archive, for machines where Jobsight is not installed.

The archive has ``bin/jobsight`` and ``bin/python3``, scripts that start what is packed from
wherever it was unpacked; ``lib/packages/``, Jobsight and every package that it needs and that is
installed, with the machine code of its kernels; ``python/``, the interpreter and its standard
library, where asked for; and ``manifest.json``: Python, platform, packages, and the SHA-256 of
every file.

Without the interpreter a Python of the same version must be there as ``python3.X``. What is packed
is machine code, for machines of the same kind: system, processor, C library. The same environment
gives the same bytes: names are sorted, times and owners left out.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import importlib.metadata
import io
import json
import os
import platform
import re
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import jobsight
from jobsight.compiling import kernels_marker
from jobsight.errors import JobsightError, OutputError, UsageError
from jobsight.files import Kind, new_file
from jobsight.text import printable

__all__ = ["EXTRAS", "SCHEMA", "compiled_kernels", "pack"]

SCHEMA = "jobsight.pack/1"
EXTRAS = ("lstm", "sweep")
"""Extras of Jobsight that nodes use; what of them is installed here is packed."""

_PACKAGES = "lib/packages"
_PYTHON = "python"
_SKIPPED = frozenset({"__pycache__", "tests", "test", "idlelib", "turtledemo", "ensurepip"})
"""Folders of the standard library that nodes never need; of packages only the first."""
_UNUSED = frozenset({("torch", "test"), ("torch", "include")})
_UNUSED_ENDS = (".pth", ".pyc", ".a", ".h", ".hpp")
"""What belongs to this place alone, or serves to compile against a package."""
_LEVEL = 3
"""Higher ones save a tenth and take several times as long."""

_START = """#!/bin/sh
# Starts the Python of this environment from wherever it was unpacked{also}.
set -eu
home=$(cd -- "$(dirname -- "$0")/.." && pwd)
{find}
PYTHONPATH="$home/{packages}"
PYTHONNOUSERSITE=1
export PYTHONPATH PYTHONNOUSERSITE
exec "$python" {arguments}"$@"
"""
_OWN = """python="$home/python/bin/python{version}"
PYTHONHOME="$home/python"
LD_LIBRARY_PATH="$home/python/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
export PYTHONHOME LD_LIBRARY_PATH"""
_THEIRS = """python=$(command -v python{version}) || {{
    echo "jobsight: this machine has no python{version}, for which the environment was packed;" \\
        "pack it with the interpreter: jobsight sweep pack --with-python" >&2
    exit 1
}}"""

Progress = Callable[[int, int], None]


def pack(
    output: Path,
    *,
    with_python: bool = False,
    practice: Sequence[str] = (),
    progress: Progress = lambda _done, _total: None,
) -> dict[str, Any]:
    """Pack the environment that this process runs in.

    Args:
        output: the archive, compressed where its name ends in ``.gz`` or ``.tgz``.
        with_python: with the interpreter and its standard library.
        practice: what `jobsight` is called with to compile the kernels that are packed, if any.
        progress: gets files done of all.

    Returns:
        Its manifest, with the number of the files in place of their hashes.

    Raises:
        UsageError: the environment cannot be packed, or the name is not that of an archive.
        OutputError: the archive cannot be written.
        JobsightError: the kernels cannot be compiled.
    """
    if not re.search(r"\.(tar|tar\.gz|tgz)$", output.name):
        raise UsageError(f"{output} is not named as an archive; write NAME.tar.gz or NAME.tar")
    found = _distributions("jobsight")
    files: dict[str, Path | bytes] = dict(_scripts(with_python))
    for distribution in found.values():
        files |= dict(_installed(distribution))
    if with_python:
        files |= dict(_interpreter())
    if practice:
        files |= dict(compiled_kernels(practice, f"{_PACKAGES}/jobsight"))
    with new_file(output, Kind.PACK) as temporary, _compressed(temporary, output.name) as archive:
        hashes: dict[str, str] = {}
        total = 0
        for count, place in enumerate(sorted(files), start=1):
            hashes[place], size = _add(archive, place, files[place])
            total += size
            progress(count, len(files))
        manifest = {
            "schema": SCHEMA,
            "python": platform.python_version(),
            "platform": sysconfig.get_platform(),
            "libc": " ".join(platform.libc_ver()).strip(),
            "with_python": with_python,
            "packages": {key: one.version for key, one in found.items()},
            "bytes": total,
            "files": hashes,
        }
        text = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
        _add(archive, "manifest.json", text.encode())
    return manifest | {"files": len(files)}


@contextlib.contextmanager
def _compressed(path: Path, name: str) -> Iterator[tarfile.TarFile]:
    """An archive to add to, compressed as its name says; gzip without a time of its own."""
    with contextlib.ExitStack() as stack:
        stream: Any = stack.enter_context(path.open("wb"))
        if not name.endswith(".tar"):
            stream = gzip.GzipFile("", mode="wb", compresslevel=_LEVEL, fileobj=stream, mtime=0)
            stack.enter_context(stream)
        yield stack.enter_context(tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT))


def _distributions(root: str) -> dict[str, importlib.metadata.Distribution]:
    """A package and all that it needs and that is installed, by normalized name."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = [(root, frozenset(EXTRAS))]
    for name, extras in waiting:
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # an extra that is not installed; what is needed was imported long ago
        for needed in map(Requirement, found[name].requires or ()):
            marker, key = needed.marker, (canonicalize_name(needed.name), frozenset(needed.extras))
            wanted = marker is None or any(marker.evaluate({"extra": one}) for one in ("", *extras))
            if wanted and key not in waiting:
                waiting.append(key)
    return dict(sorted(found.items()))


def _installed(
    distribution: importlib.metadata.Distribution,
) -> Iterator[tuple[str, Path | bytes]]:
    """Where each file of a package goes, and where it is; of one installed for editing too."""
    name = distribution.metadata["Name"]
    source = _editable(distribution)
    if source is not None:
        yield from _tree(source, f"{_PACKAGES}/{source.name}", _SKIPPED & {"__pycache__"})
    listed = distribution.files
    if listed is None:
        raise UsageError(
            f"the files of the package {name} are not listed where it is installed; install it "
            "with pip into a virtual environment, and pack from there"
        )
    for file in listed:
        parts = PurePosixPath(file).parts
        # Scripts lie outside; .pth files and what they name belong to this place alone.
        outside = ".." in parts or PurePosixPath(file).is_absolute()
        if outside or "__pycache__" in parts or parts[:2] in _UNUSED:
            continue
        if parts[-1].endswith(_UNUSED_ENDS):
            continue
        if source is not None and parts[-1] in ("RECORD", "direct_url.json"):
            continue
        path = Path(str(distribution.locate_file(file)))
        if path.is_file():
            yield f"{_PACKAGES}/{PurePosixPath(file)}", path


def _editable(distribution: importlib.metadata.Distribution) -> Path | None:
    """The source folder of a package that is installed for editing; None: it is a usual one."""
    if distribution.metadata["Name"] != "jobsight":
        return None
    here = Path(jobsight.__file__).parent
    placed = Path(str(distribution.locate_file("jobsight")))
    return None if placed.is_dir() and placed.samefile(here) else here


def _tree(folder: Path, place: str, skipped: frozenset[str]) -> Iterator[tuple[str, Path | bytes]]:
    """All files under a folder, but those of folders with such a name."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in skipped)
        for name in sorted(names):
            path = Path(parent) / name
            if not name.endswith(_UNUSED_ENDS) and path.is_file():
                yield f"{place}/{path.relative_to(folder).as_posix()}", path


def _interpreter() -> Iterator[tuple[str, Path | bytes]]:
    """The interpreter, its standard library, and the shared library it is linked to, if any."""
    version = _version()
    binary = Path(os.path.realpath(sys.executable))
    yield f"{_PYTHON}/bin/python{version}", binary
    library = Path(sysconfig.get_path("stdlib"))
    skipped = _SKIPPED | {"site-packages", "dist-packages"}
    yield from _tree(library, f"{_PYTHON}/lib/python{version}", skipped)
    linked = sysconfig.get_config_var("INSTSONAME") or ""
    folder = sysconfig.get_config_var("LIBDIR") or ""
    if linked.startswith("libpython") and ".so" in linked and (Path(folder) / linked).is_file():
        yield f"{_PYTHON}/lib/{linked}", Path(folder) / linked


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _scripts(with_python: bool) -> dict[str, Path | bytes]:
    find = (_OWN if with_python else _THEIRS).format(version=_version())
    common = {"find": find, "packages": _PACKAGES}
    start = _START.format(also="", arguments="", **common)
    ours = _START.format(also=", with Jobsight", arguments="-m jobsight ", **common)
    return {"bin/jobsight": ours.encode(), "bin/python3": start.encode()}


def _add(archive: tarfile.TarFile, place: str, source: Path | bytes) -> tuple[str, int]:
    """Add one file, as anybody's of no time; its SHA-256 and size."""
    executable = place.startswith("bin/")
    if isinstance(source, Path):
        try:
            executable = bool(source.stat().st_mode & stat.S_IXUSR)
            source = source.read_bytes()
        except OSError as error:
            raise OutputError(f"cannot pack {place}: {error.strerror or error}") from None
    entry = tarfile.TarInfo(place)
    entry.size = len(source)
    entry.mode = 0o755 if executable else 0o644
    archive.addfile(entry, io.BytesIO(source))
    return hashlib.sha256(source).hexdigest(), len(source)


_ADDRESS = re.compile(rb"(?<= at 0x)[0-9a-f]+")
"""What Numba's notes next to the code tell of the process that compiled it."""


def compiled_kernels(practice: Sequence[str], package: str) -> Iterator[tuple[str, bytes]]:
    """Where each file of machine code goes in the pack, and its content.

    `jobsight` is called with the words of `practice` to compile what nodes use; `package` is where
    Jobsight itself is in the pack.

    Raises:
        JobsightError: the practice fails.
    """
    with tempfile.TemporaryDirectory(prefix="jobsight-kernels-") as name:
        _practise(practice, Path(name))
        home = Path(jobsight.__file__).parent
        for folder in sorted({path.parent for path in home.rglob("*.py")}):
            place = f"{package}/{folder.relative_to(home).as_posix()}/__pycache__"
            for file in sorted(_kept_for(folder, Path(name)).glob("*.nb[ic]")):
                code = _ADDRESS.sub(lambda found: b"0" * len(found[0]), file.read_bytes())
                yield f"{place.replace('/./', '/')}/{file.name}", code
    yield f"{package}/{kernels_marker()}", b""


def _practise(practice: Sequence[str], cache: Path) -> None:
    # An order of its own in each process would give other bytes each time.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONHASHSEED": "0"}
    done = subprocess.run(  # noqa: S603  # no shell; ourselves
        [sys.executable, "-m", "jobsight", *practice],
        env=environment,
        cwd=cache,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise JobsightError(f"the kernels cannot be compiled: {printable(last, 300)}")


def _kept_for(folder: Path, cache: Path) -> Path:
    """Where Numba keeps machine code of a folder's sources, below a cache folder that was set."""
    digest = hashlib.sha1(str(folder).encode(), usedforsecurity=False).hexdigest()
    return cache / f"{folder.name}_{digest}"
