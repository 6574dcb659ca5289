"""Where compiled kernels are kept, and which folders are not trusted with that."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from jobsight import compiling, kernelcache


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, Path]:
    """The user's cache folder, and the one for all users' temporary files."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    own = tmp_path / "home" / "cache" / "jobsight"
    return own, tmp_path / "temporary" / f"jobsight-{os.getuid()}"


def test_the_cache_is_the_users_and_closed_to_others(places: tuple[Path, Path]) -> None:
    own, _ = places
    found = Path(kernelcache.cache_directory() or "")
    assert found.parent.parent == own / "numba"
    for folder in (found, *found.parents[:4]):
        assert folder.stat().st_mode & 0o077 == 0
    assert kernelcache.cache_directory() == str(found)


def test_temporary_files_are_the_second_choice(places: tuple[Path, Path]) -> None:
    own, shared = places
    own.parent.write_text("a file where the folder should be")
    found = Path(kernelcache.cache_directory() or "")
    assert found.parent.parent == shared / "numba"
    assert found.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("how", ["link", "open to others", "file"])
def test_each_folder_on_the_way_must_be_ours(
    places: tuple[Path, Path], tmp_path: Path, level: int, how: str
) -> None:
    own, shared = places
    own.parent.write_text("")
    sources = shared / "numba" / kernelcache.sources()
    way = [shared, sources.parent, sources, sources / kernelcache.processor()]
    for folder in way[:level]:
        folder.mkdir(mode=0o700)
    planted = way[level]
    if how == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        planted.symlink_to(tmp_path / "elsewhere")
    elif how == "file":
        planted.write_text("")
    else:
        planted.mkdir()
        planted.chmod(0o777)
    assert kernelcache.cache_directory() is None


def test_each_kind_of_processor_has_a_cache_of_its_own(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba numbers files of machine code, which two processes would number alike."""
    found = {kernelcache.cache_directory()}
    for name, value in (("CPU_NAME", "generic"), ("CPU_FEATURES", "+sse"), ("BOUNDSCHECK", "1")):
        monkeypatch.setenv(f"NUMBA_{name}", value)
        found.add(kernelcache.cache_directory())
    assert len(found) == 4
    assert len({Path(one or "").parent for one in found}) == 1


def test_a_named_cache_is_taken_as_it_is(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere")
    assert kernelcache.cache_directory() == "/somewhere"


def test_kernels_are_loaded_without_scipy_which_still_works() -> None:
    done = """
import sys
import numpy as np
from jobsight.history.timelines import _follow
assert _follow(np.array([3, 1, 2])).tolist() == [3, 3, 3]
assert "scipy.linalg" not in sys.modules, "SciPy was loaded"
from numba.np.linalg import ensure_blas
ensure_blas()
assert "scipy.linalg" in sys.modules
"""
    subprocess.run([sys.executable, "-c", done], check=True)


def test_that_all_kernels_are_compiled_is_known_by_version_and_processor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not kernelcache.are_compiled()
    kernelcache.note_compiled()
    assert kernelcache.are_compiled()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert not kernelcache.are_compiled()


def _jobs(count: int) -> int:
    return count


def test_processes_that_compile_at_once_keep_their_code_apart(tmp_path: Path) -> None:
    def record() -> Any:
        made: Any = compiling._CacheFile
        return made(str(tmp_path), "kernel", "of one state")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: record().save(number, f"code {number}"), range(64)))
    assert [record().load(number) for number in range(64)] == [f"code {n}" for n in range(64)]
    assert isinstance(compiling.compiled(_jobs)._cache._cache_file, compiling._CacheFile)


def test_functions_of_two_processes_have_no_number_in_common() -> None:
    program = """
from numba.core.bytecode import FunctionIdentity
from jobsight import compiling, kernelcache
def one(): pass
print(FunctionIdentity.from_function(one).unique_id)
"""
    first, second = (
        int(subprocess.check_output([sys.executable, "-c", program], text=True)) for _ in range(2)
    )
    assert abs(first - second) > 1_000_000
