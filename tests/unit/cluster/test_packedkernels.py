"""Machine code that is packed: found wherever it is unpacked, harmless where it does not fit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.limits import prove

import jobsight
from jobsight.cluster.packing import compiled_kernels
from jobsight.errors import JobsightError

PRACTICE = ("sweep", "node", "practise", ".")
FOLLOWS = """
import numpy as np
from jobsight.history.timelines import _follow
print(_follow(np.array([1, 2], np.int64)).tolist(), sum(_follow.compiled.stats.cache_hits.values()))
"""


pytestmark = prove  # all kernels are compiled


@pytest.fixture(scope="module")
def packed() -> dict[str, bytes]:
    return dict(compiled_kernels(PRACTICE, "lib/jobsight"))


@pytest.fixture
def place(packed: dict[str, bytes], tmp_path: Path) -> Path:
    """Where Jobsight was unpacked with its kernels."""
    source = Path(jobsight.__file__).parent
    target = tmp_path / "lib" / "jobsight"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    for name, content in packed.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return target


def run(place: Path, *arguments: str, **environment: str) -> str:
    """What Python prints that has nothing kept of earlier runs but what `used_cache` tells."""
    home = place.parent.parent / "home"
    home.mkdir(exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    clean |= {"PYTHONPATH": str(place.parent), "HOME": str(home)}
    clean |= {"XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home)}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=clean | environment, cwd=home, capture_output=True, text=True, check=True
    )
    return done.stdout


def used_cache(place: Path) -> bool:
    """Whether machine code was kept for the user, as without a pack."""
    return any((place.parent.parent / "home" / "cache").rglob("*.nbi"))


def kept(place: Path) -> dict[str, bytes]:
    files = sorted(place.rglob("*.nb[ic]"))
    return {file.relative_to(place).as_posix(): file.read_bytes() for file in files}


def test_nothing_is_compiled_where_a_pack_was_unpacked(place: Path) -> None:
    before = kept(place)
    assert len(before) > 100
    run(place, "-m", "jobsight", *PRACTICE)
    assert kept(place) == before
    assert run(place, "-c", FOLLOWS) == "[1, 2] 1\n"
    assert not used_cache(place)


def test_other_processors_compile_what_they_need_and_keep_it_elsewhere(place: Path) -> None:
    """Beside the pack's they might mistake what others compile at the same time for their own."""
    before = kept(place)
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert run(place, "-c", FOLLOWS, **other) == "[1, 2] 0\n"
    assert run(place, "-c", FOLLOWS, **other) == "[1, 2] 1\n"
    assert used_cache(place) and kept(place) == before


def test_edited_sources_use_no_kernels_of_older_ones(place: Path) -> None:
    with (place / "history" / "counts.py").open("a") as file:
        file.write("# another line\n")
    before = kept(place)
    assert run(place, "-c", FOLLOWS) == "[1, 2] 0\n"
    assert used_cache(place) and kept(place) == before


def test_nothing_of_the_process_that_compiled_is_packed(packed: dict[str, bytes]) -> None:
    assert not any(b"jobsight-kernels-" in content for content in packed.values())
    assert dict(compiled_kernels(PRACTICE, "lib/jobsight")) == packed


def test_a_practice_that_fails_is_told() -> None:
    with pytest.raises(JobsightError, match=r"the kernels cannot be compiled: .*nothing"):
        dict(compiled_kernels(("sweep", "node", "nothing"), "lib/jobsight"))
