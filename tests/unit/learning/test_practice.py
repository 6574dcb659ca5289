from pathlib import Path

from jobsight.learning import practice
from jobsight.learning.practice import practise
from jobsight.questions.hold.question import HOLD


def test_a_made_up_log_is_parsed_and_made_examples_of(tmp_path: Path) -> None:
    assert 10 < practise(HOLD, tmp_path) < practice._JOBS
    assert (tmp_path / "table.parquet").exists()
