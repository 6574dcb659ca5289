"""The cause of a failure in the text of a job's output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.errors import UsageError
from jobsight.history.causes.search import MOST, progress, read_end, search, tracebacks
from jobsight.history.causes.table import table

OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch."
EXITED = "srun: error: cn04: task 0: Exited with exit code 2"
TRACE = """Traceback (most recent call last):
  File "/home/a/fit.py", line 9, in main
    model.fit(x)
  File "/home/a/env/lib/python3.11/site-packages/lib/model.py", line 70, in fit
    raise ValueError("bad x")
ValueError: bad x"""


def named(text: str) -> str | None:
    """The cause that a text names."""
    found = search(text)
    return None if found is None else found.cause.name


def test_the_cause_is_the_first_error_and_no_effect_of_it() -> None:
    found = search(f"start\n{TRACE}\n{EXITED}\n")
    assert found is not None
    assert (found.cause.name, found.line) == ("python-exception", 7)
    assert found.cause.text.endswith("ValueError: bad x, at line 9 of /home/a/fit.py")


def test_a_kill_explains_what_it_leaves_behind() -> None:
    assert named(f"{TRACE}\n{OOM}") == "oom-kill"
    assert named(EXITED) == "srun-exit"


def test_an_exception_behind_another_does_not_hide_the_first() -> None:
    text = f"{TRACE}\n\nDuring handling of the above exception, another exception occurred:\n\n"
    found = search(text + TRACE.replace("bad x", "worse"))
    assert found is not None and "bad x" in found.cause.text


@pytest.mark.parametrize(
    "lead",
    [
        "[rank3]: ",
        "3: ",
        "\x1b[31m",
        "[1,3]<stderr>:",
        "Sun Jun  3 10:44:38 2018[1,3]<stderr>:",
        "Sun Jun  3 10:44:38 2018<stderr>:",
    ],
)
def test_who_wrote_a_line_is_no_part_of_it(lead: str) -> None:
    text = "\n".join(lead + line for line in TRACE.split("\n"))
    assert named(text) == "python-exception"


def test_a_progress_bar_is_what_a_terminal_shows() -> None:
    found = search("10%\r20%\r" + OOM)
    assert found is not None and found.quoted == OOM


def test_a_part_with_the_number_zero_is_no_count_of_failures() -> None:
    assert named("ncclInternalError: Proxy Call to rank 0 failed") == "nccl-connect"
    assert named("812 passed, 0 failed") is None


def test_an_indented_traceback_is_one() -> None:
    blocks = tracebacks(["  " + line for line in TRACE.split("\n")])
    assert [block.place for block in blocks] == ["line 9 of /home/a/fit.py"]


def test_a_program_of_an_environment_is_no_file_of_the_user() -> None:
    launcher = '  File "/home/a/env/bin/torchrun", line 8, in <module>\n'
    blocks = tracebacks(TRACE.replace("\nValueError", f"\n{launcher}ValueError").split("\n"))
    assert [block.place for block in blocks] == ["line 9 of /home/a/fit.py"]


@given(st.text(max_size=2000))
def test_any_text_is_searched(text: str) -> None:
    found = search(text)
    assert found is None or 1 <= found.line <= text.count("\n") + 1
    progress(text)


PIECES = st.sampled_from(
    [example for entry in table("output") for example in entry.examples]
    + [
        "",
        "Traceback (most recent call last):",
        '  File "a.py", line 1',
        "\r",
        "\x1b[31m",
        "x" * 99,
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_any_order_of_messages_is_searched(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    found = search(text)
    assert found is None or found.quoted in text


def test_searching_hostile_text_takes_no_long() -> None:
    import time

    for unit in ("a", " ", "error: ", "/", "'", "(", "0", "No such file ", "[", "Error in "):
        text = (unit * 2000)[:2000] + "\n"
        begin = time.process_time()
        search(text * (MOST // len(text)))
        assert time.process_time() - begin < 20, unit


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("tile 1/600\ntile 160/600\n", "160/600 (27 %)"),
        ("step 3 of 90 done\nstep 45 of 90 done\nbye\n", "45 of 90 (50 %)"),
        ("10%|##\r37%|###", "37%"),
        ("on 2026/11/28 4/5 cores\n", None),
        ("", None),
    ],
)
def test_how_far_the_work_was(text: str, reached: str | None) -> None:
    assert progress(text) == reached


def test_the_end_of_a_long_file_keeps_its_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "long.out"
    path.write_text("line\n" * 100_000 + OOM + "\n")
    found = search(*read_end(path))
    assert found is not None and found.line == 100_001
    with path.open("ab") as file:
        file.truncate(2 << 30)
        file.seek(0, os.SEEK_END)
        file.write(f"\n{OOM}\n".encode())
    found = search(*read_end(path))
    assert found is not None and found.line == -2


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", "/dev/zero"):
        with pytest.raises(UsageError):
            read_end(path)


STALE = "cat: list.txt: No such file or directory"


@pytest.mark.parametrize(
    "after",
    [
        "epoch 1 loss 0.9\nepoch 2 loss 0.7\nepoch 3 loss 0.6",
        "wrote out/table.csv",
        "Training complete in 3 min",
        "3 passed, 0 failed",
    ],
)
def test_an_error_that_the_job_survived_is_no_cause(after: str) -> None:
    assert named(f"{STALE}\n{after}") is None
    assert search(f"{STALE}\n{after}", failed=True) is not None
    assert named(f"{OOM}\n{after}") == "oom-kill"


@pytest.mark.parametrize(
    "after", ["Training finished in 10 s", "wrote out/fit.csv", "analysis complete"]
)
def test_what_a_script_claims_at_its_end_hides_no_program_that_ended(after: str) -> None:
    assert named(f"{TRACE}\n{after}") == "python-exception"
    assert named(f"{STALE}\n{EXITED}\n{after}") == named(STALE)
    assert (
        named(f"job.sh: line 9: 77 Segmentation fault (core dumped) ./fit\n{after}") == "segfault"
    )
    assert named(f"WARNING sample 3 is left out\n{TRACE}\n{after}") is None
    assert named(f"{STALE}\n{EXITED}\n=== 3 passed in 4 s ===") is None


@pytest.mark.parametrize(
    "after",
    [
        "job finished at Mon Nov 23 10:00:01 UTC 2026",
        "#0  0x7f10 in ???\n#1  0x7f20 in ???\n#2  0x7f30 in ???",
        "real 0m1.2s\nuser 0m0.1s",
        "3 passed, 2 failed",
        f"epoch 1\nepoch 2\nepoch 3\n{EXITED}",
    ],
)
def test_epilogues_and_backtraces_show_no_success(after: str) -> None:
    assert named(f"{STALE}\n{after}") is not None
