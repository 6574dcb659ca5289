"""sacct's text in the form we ask for and in the forms that people keep."""

from __future__ import annotations

import datetime as dt
import math

import pytest

from jobsight.history.importers.sacctdumps import table_rows
from jobsight.history.slurm.sacct import Run, exact_rows, join_runs, read_row

D = "\x1f5a5a\x1f"

# ruff: noqa: E501  # rows as sacct prints them
PARSABLE2 = """\
JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|Elapsed|Timelimit|ReqMem|NCPUS|NodeList|MaxRSS
7|7|scan|ann|REQUEUED|0:0|2026-11-21T06:20:59|2026-11-21T06:20:59|2026-11-21T06:21:01|00:00:02|00:10:00|200M|1|node1|
7.batch|7.batch|batch||CANCELLED|0:15|2026-11-21T06:20:59|2026-11-21T06:20:59|2026-11-21T06:21:01|00:00:02|||1|node1|4128K
7|7|scan|ann|CANCELLED by 1001|0:0|2026-11-21T06:21:01|None|2026-11-21T06:21:04|00:00:00|00:10:00|200M|0|None assigned|
8_3|12|arr|bob|OUT_OF_ME+|0:125|2026-11-21T06:20:21|2026-11-21T06:20:22|2026-11-21T06:21:02|00:00:40|UNLIMITED|4Gc|2|node2|
8_3.extern|12.extern|extern||COMPLETED|0:0|2026-11-21T06:20:21|2026-11-21T06:20:22|2026-11-21T06:21:02|00:00:40|||2|node2|
8_3.0|12.0|srun||OUT_OF_ME+|0:125|2026-11-21T06:20:21|2026-11-21T06:20:22|2026-11-21T06:21:02|00:00:40|||2|node2|8G
8_[4-9%2]|8|arr|bob|PENDING|0:0|2026-11-21T06:20:21|Unknown|Unknown|00:00:00|Partition_Limit|4Gc|0|None assigned|
9+1|10|het|bob|COMPLETED|0:0|2026-11-21T06:20:21|2026-11-21T06:20:22|2026-11-21T06:21:02|00:00:40|1-00:00:00|0|4|node[1-2]|
"""


def runs(text: str) -> tuple[list[Run], list[str]]:
    refused: list[str] = []
    head, *lines = enumerate(text.splitlines(), 1)
    rows = table_rows(lines, head[1].split("|"))
    bad = lambda error: refused.append(str(error))  # noqa: E731
    return list(join_runs(rows, dt.UTC, bad, bad)), refused


def test_jobs_with_steps_requeues_arrays_and_components() -> None:
    found, refused = runs(PARSABLE2)
    assert refused == []
    assert [run.id.name for run in found] == ["7", "7", "8_3", "8", "9+1"]
    first, second, task, waiting, component = found
    assert [step.name for step in first.steps] == ["batch"]
    assert first.steps[0].max_rss == 4128 << 10
    assert (second.state, second.start, second.hosts) == ("CANCELLED by 1001", None, "")
    assert [step.name for step in task.steps] == ["extern", "0"]
    assert task.req_mem == (4 << 30, "cpu")
    assert task.time_limit_s == math.inf
    assert waiting.id.tasks is not None and list(waiting.id.tasks) == [4, 5, 6, 7, 8, 9]
    assert waiting.time_limit_s is None
    assert (component.time_limit_s, component.alloc_cpus) == (86400, 4)


def test_parsable_ends_each_row_with_its_delimiter() -> None:
    parsable = "".join(f"{line}|\n" for line in PARSABLE2.splitlines())
    assert runs(parsable) == runs(PARSABLE2)


def test_columns_in_any_order_and_case() -> None:
    lines = [line.split("|") for line in PARSABLE2.splitlines()]
    turned = "\n".join("|".join(reversed(line)) for line in lines).replace("State", "STATE", 1)
    assert runs(turned) == runs(PARSABLE2)


def test_a_name_with_the_separator_stays_whole() -> None:
    row = "7|7|a|b|c|ann|FAILED|1:0" + "|" * 9
    found, refused = runs(PARSABLE2.splitlines()[0] + "\n" + row + "\n")
    assert refused == []
    assert (found[0].name, found[0].user, found[0].exit_code) == ("a|b|c", "ann", (1, 0))


def test_bad_rows_are_refused_one_by_one_and_bad_values_alone() -> None:
    lines = PARSABLE2.splitlines()
    lines[2:2] = ["7|7", "x|7" + "|" * 13, lines[1].replace("200M", "lots")]
    found, refused = runs("\n".join(lines))
    assert len(found) == 6
    assert len(refused) == 3
    assert found[1].req_mem is None and found[1].name == found[0].name
    assert "2 fields for 15 columns" in refused[0]
    assert "is not a Slurm job id" in refused[1]
    assert "column reqmem" in refused[2]


def test_commas_between_fields_may_stand_in_quotes() -> None:
    rows = list(table_rows([(2, '5,"a,b",FAILED')], ["JobID", "JobName", "State"], ","))
    assert rows == [{"JobID": "5", "JobName": "a,b", "State": "FAILED"}]


def exact(*rows: list[str]) -> str:
    return "".join(D.join([*row, ""]) + "\n" for row in rows)


def test_the_form_we_ask_for_keeps_any_name_whole() -> None:
    name = "a|b\n8|COMPLETED\n\n"
    text = exact(["JobID", "JobName", "State"], ["7", name, "FAILED"], ["8", "", "RUNNING"])
    assert list(exact_rows(text, D)) == [
        {"JobID": "7", "JobName": name, "State": "FAILED"},
        {"JobID": "8", "JobName": "", "State": "RUNNING"},
    ]


def test_a_row_cut_short_is_left_out() -> None:
    text = exact(["JobID", "State"], ["7", "FAILED"], ["8", "RUNNING"])
    for end in range(len(text)):
        try:
            rows = list(exact_rows(text[:end], D))
        except ValueError:
            continue
        assert rows in ([], [{"JobID": "7", "State": "FAILED"}], list(exact_rows(text, D)))


@pytest.mark.parametrize("text", ["", "sacct: error\n", "JobID", f"State{D}\n"])
def test_no_header_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="no header"):
        list(exact_rows(text, D))


def test_a_step_without_its_job_is_left_out() -> None:
    found, refused = runs("JobID|State\n7.batch|FAILED\n8|RUNNING\n9.0|FAILED\n")
    assert [(run.id.name, run.steps) for run in found] == [("8", ())]
    assert refused == []


def test_usage_of_a_step_in_the_newer_columns() -> None:
    row = {
        "JobID": "7.batch",
        "TRESUsageInTot": "cpu=00:00:03,fs/disk=2048,mem=4128K",
        "TRESUsageOutTot": "fs/disk=4096",
        "MaxDiskRead": "1M",
    }
    found = read_row(row, dt.UTC)
    assert isinstance(found, tuple)
    assert (found[1].read, found[1].written) == (2048, 4096)
