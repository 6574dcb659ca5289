from pathlib import Path

import pytest

from jobsight.errors import TrainingError
from jobsight.learning.sweep.room import least_bytes, memory_limit, require_room
from jobsight.learning.sweep.searched import with_parameters
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

BASE = HoldSettings()


def test_the_defaults_need_little() -> None:
    assert least_bytes(1000, BASE.frames, BASE.lstm) < 10_000_000
    require_room(1000, BASE.frames, BASE.lstm)


@pytest.mark.parametrize(
    "point",
    [
        {"m": 10_000, "j": 10_000},
        {"hidden_size": 4096, "lstm_layers": 8},
        {"m": 10_000, "hidden_size": 512, "batch_size": 900},
    ],
)
def test_what_cannot_fit_is_refused_with_both_sizes(point: dict[str, int]) -> None:
    settings = with_parameters(HOLD, BASE, point)
    with pytest.raises(TrainingError, match=r"at least \d+\.\d GB of memory and there are 2\.0 GB"):
        require_room(1000, settings.frames, settings.lstm, limit=2_000_000_000)


def test_a_network_of_the_users_own_is_known_by_its_frames_alone() -> None:
    settings = with_parameters(
        HOLD, BASE, {"hidden_size": 4096, "lstm_layers": 8, "network": "my:Net"}
    )
    frames, lstm = settings.frames, settings.lstm
    assert least_bytes(10, frames, lstm) == 10 * frames.m * frames.j


def limit(folder: Path, group: str) -> int:
    mine = folder / "cgroup"
    mine.write_text(group)
    return memory_limit(folder / "fs", mine)


def test_the_narrowest_group_counts(tmp_path: Path) -> None:
    whole = limit(tmp_path, "0::/")
    assert whole > 100_000_000
    job = tmp_path / "fs" / "slurm" / "job_7" / "step"
    job.mkdir(parents=True)
    (job / "memory.max").write_text("max\n")
    (job.parent / "memory.max").write_text("5000000\n")
    (job.parent.parent / "memory.max").write_text("9000000\n")
    assert limit(tmp_path, "1:cpu:/else\n0::/slurm/job_7/step\n") == 5_000_000
    assert limit(tmp_path, "0::/slurm\n") == 9_000_000
    for odd in ("", "0::/nowhere\n", "4:memory:/slurm\n", "0::/../../slurm\n"):
        assert limit(tmp_path, odd) == whole
    assert memory_limit(tmp_path, tmp_path / "none") == whole
