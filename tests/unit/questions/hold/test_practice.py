from pathlib import Path

from jobsight.questions.hold import practice
from jobsight.questions.hold.practice import practise


def test_a_made_up_log_is_parsed_and_made_examples_of(tmp_path: Path) -> None:
    assert 10 < practise(tmp_path) < practice._JOBS
    assert (tmp_path / "table.parquet").exists()
