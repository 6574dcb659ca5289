"""Submit files as they are read."""

import time

import pytest

from jobsight.program.submission.condor import read_condor


@pytest.mark.parametrize("line", [
    "queue queue queue transfer_input_files = x", f"queue {'a ' * 10_000}= x",
    f"queue a{' ' * 20_000}= x", f"queue {'a' * 20_000}= x",
])  # fmt: skip
def test_a_line_that_is_no_queue_statement_is_read_in_time(line: str) -> None:
    begun = time.process_time()
    read_condor(f"executable = a\n{line}\n", lambda _path: None)
    assert time.process_time() - begun < 1
