"""Slurm's text, fuzzed: any text is read or refused by one named error, whole or cut anywhere."""

from __future__ import annotations

import datetime as dt

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings
from tests.support.limits import PROVE

from jobsight.documents import decode, encode, merge
from jobsight.history.importers.sacctdumps import table_rows
from jobsight.history.slurm.documents import group_runs, of_queue, of_runs, of_shown
from jobsight.history.slurm.ids import expand, pack, parse_id, unpack
from jobsight.history.slurm.sacct import exact_rows, join_runs
from jobsight.history.slurm.scontrol import read_config, read_jobs, read_nodes, read_partitions
from jobsight.history.slurm.squeue import FIELDS, read_queue
from jobsight.history.slurm.watch import Watch
from jobsight.program.submission.batchscript import directives, from_sacct
from jobsight.program.submission.sizes import parse_memory, parse_tres
from jobsight.program.submission.times import parse_minutes, parse_span, parse_time

FUZZ = settings(
    max_examples=5000 if PROVE else 150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
D = "\x1fab\x1f"
NOW = 1_795_242_100_000_000

IDS = st.sampled_from(["123", "5_3", "5_[1-4%2]", "5_[1,2,...]", "7+1", "7.batch", "5_3.extern"])
STATES = st.sampled_from(
    ["PENDING", "RUNNING", "SUSPENDED", "FAILED", "COMPLETED", "CANCELLED by 1000", "REQUEUED",
     "CANCELLED+", "NODE_FAIL", "COMPLETING", "NEWS"]
)  # fmt: skip
TIMES = st.sampled_from(
    ["Unknown", "N/A", "None", "", "1795242021", "1795242099", "2026-11-21T06:20:59", "0"]
)
SPANS = st.sampled_from(["UNLIMITED", "00:10:00", "1-02:03:04", "Partition_Limit", "", "60"])
SIZES = st.sampled_from(["4G", "4Gc", "200M", "0", "", "4000Mn"])
NUMBERS = st.sampled_from(["0", "1", "17", "2-4", "", "2K"])
TRES = st.sampled_from(["cpu=4,mem=16G,node=1,gres/gpu:a100=2", "", "cpu=1"])
EXITS = st.sampled_from(["0:0", "3:0", "0:15", "1:9", ""])
WORDS = IDS | STATES | TIMES | SPANS | SIZES | NUMBERS | TRES | EXITS
HOSTILE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
CELL = WORDS | HOSTILE.map(lambda text: text.replace(D, ""))


def _or_error(parse: object, text: str) -> None:
    try:
        parse(text)  # type: ignore[operator]
    except ValueError as error:
        assert str(error)


@FUZZ
@given(st.text(max_size=60) | WORDS)
def test_small_parsers_read_or_refuse_anything(text: str) -> None:
    for parse in (parse_id, parse_memory, parse_tres, parse_span, parse_minutes):
        _or_error(parse, text)
    _or_error(lambda word: parse_time(word, dt.UTC), text)
    directives(text)
    from_sacct(text)
    for line in (
        f"NodeName=n1 CfgTRES={text} State={text}",
        f"PartitionName={text} MaxTime={text}",
    ):
        assert len(list(read_nodes(line))) + len(list(read_partitions(line))) < 2 + line.count("=")


@FUZZ
@given(st.text("0123456789_[],-:%+.xsab", max_size=40))
def test_ids_expand_to_ids_that_are_read_again(text: str) -> None:
    try:
        job = parse_id(text)
    except ValueError:
        return
    jobs, left_out = expand(job, 20)
    assert left_out >= 0
    for one in jobs:
        assert parse_id(one.name).name == one.name


@FUZZ
@given(st.sets(st.integers(0, 2**32 - 1), max_size=60))
def test_packed_numbers_come_back(numbers: set[int]) -> None:
    assert unpack(pack(numbers), 1000) == sorted(numbers)


ROWS = st.lists(st.fixed_dictionaries(dict.fromkeys(FIELDS, CELL)), max_size=6)


@FUZZ
@given(ROWS, st.integers(0, 4000), st.text(max_size=20))
def test_the_queue_whole_and_cut_and_with_rubbish_behind(
    rows: list[dict[str, str]], cut: int, rubbish: str
) -> None:
    text = "".join(D.join([*row.values(), ""]) + "\n" for row in rows)
    refused: list[ValueError] = []
    whole = list(read_queue(text, D, dt.UTC, refused.append))
    assert len(whole) + len(refused) == len(rows)
    assert list(read_queue(text + rubbish, D, dt.UTC, refused.append)) == whole
    part = list(read_queue(text[:cut], D, dt.UTC, refused.append))
    assert part == whole[: len(part)]
    watch = Watch(50)
    for change in watch.look(whole, NOW).changes:
        _sound_document(of_queue("c", change.line, change.id, change.events, NOW))
    assert watch.look(whole, NOW).gone == []


COLUMNS = ["JobID", "JobName", "State", "Submit", "Start", "End", "ExitCode", "ReqMem", "ReqTRES",
           "TimelimitRaw", "NodeList", "AllocCPUS", "MaxRSS", "Restarts", "Reason"]  # fmt: skip
CELLS = (IDS, CELL, STATES, TIMES, TIMES, TIMES, EXITS, SIZES, TRES, SPANS, CELL, NUMBERS, SIZES,
         NUMBERS, CELL)  # fmt: skip
ANY_ROW = st.lists(CELL, min_size=len(COLUMNS), max_size=len(COLUMNS))
TABLE = st.lists(st.tuples(*CELLS).map(list) | ANY_ROW, max_size=6)


@FUZZ
@given(TABLE, st.integers(0, 3000))
def test_accounts_in_our_form_whole_and_cut(rows: list[list[str]], cut: int) -> None:
    text = "".join(D.join([*row, ""]) + "\n" for row in [COLUMNS, *rows])
    assert [list(row.values())[1:] for row in exact_rows(text, D)] == [row[1:] for row in rows]
    refused: list[ValueError] = []
    runs = list(join_runs(exact_rows(text, D), dt.UTC, refused.append, refused.append))
    for job, found in group_runs(runs, 20):
        _sound_document(of_runs("c", job, found, NOW))
    try:
        part = list(exact_rows(text[:cut], D))
    except ValueError:
        return
    assert len(part) <= len(rows)


@FUZZ
@given(st.lists(st.lists(CELL, max_size=20).map("|".join) | HOSTILE, max_size=8))
def test_accounts_as_people_keep_them(lines: list[str]) -> None:
    refused: list[ValueError] = []
    columns = ["JobID", "JobName", "State", "Start", "SubmitLine"]
    runs = list(
        join_runs(table_rows(enumerate(lines, 2), columns), dt.UTC, refused.append, refused.append)
    )
    for job, found in group_runs(runs, 20):
        _sound_document(of_runs("c", job, found, NOW))


KEYS = st.sampled_from(
    ["JobId=5", "JobName=x", "ArrayJobId=5", "ArrayTaskId=1-3", "HetJobId=5", "HetJobOffset=1",
     "JobState=FAILED", "Reason=x", "SubmitTime=1795242021", "StartTime=Unknown", "BatchFlag=1",
     "EndTime=1795242022", "TimeLimit=UNLIMITED", "ExitCode=1:9", "ReqTRES=cpu=1,mem=2G",
     "NodeList=node1", "Restarts=1", "\nJobId=5 JobName=", "ClusterName = x"]
)  # fmt: skip


@FUZZ
@given(st.lists(KEYS | HOSTILE, max_size=25))
def test_what_scontrol_shows(parts: list[str]) -> None:
    text = "JobId=5 JobName=" + " ".join(parts)
    read_config(text, dt.UTC)
    for shown in read_jobs(text, "5", dt.UTC):
        for job in expand(shown.id, 20)[0]:
            assert job.job == 5
            _sound_document(of_shown("c", job, shown, NOW))


def _sound_document(document: object) -> None:
    """It can be written and read, and merged twice changes nothing."""
    from jobsight.documents import JobDocument

    assert isinstance(document, JobDocument)
    once = merge(None, document)
    assert decode(encode(once)) == once
    assert merge(once, document) is once
