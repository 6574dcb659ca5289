"""How jobs like one ended, in words, and what is advised."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.failingjobs import HOUR, ran, table
from tests.support.storedjobs import HOSTILE, job, told

from jobsight.documents import JobDocument, State
from jobsight.history.jobsasked import jobs_asked
from jobsight.program.submission.proposals import Ceilings
from jobsight.questions.fail.evidence import Advice, Counted, Ends, advise, findings

OOM, TIMEOUT, FAILED = State.OUT_OF_MEMORY, State.TIMEOUT, State.FAILED


def asked(history: Iterable[JobDocument], one: JobDocument) -> tuple[dict[str, Any], Any]:
    """The row of a job, and the runs like it in a history."""
    jobs = table([*history, one])
    row = jobs_asked(jobs).filter(pl.col("id") == one.id)
    return row.row(0, named=True), Ends(jobs).about(row)[0]


def texts(history: Iterable[JobDocument], one: JobDocument) -> list[str]:
    row, groups = asked(history, one)
    return [found["text"] for found in findings(groups, row)]


def test_runs_of_the_same_name_are_counted_in_words() -> None:
    runs = [ran(n, n * HOUR, OOM, peak=8000 + n) for n in range(1, 10)]
    runs += [ran(n, n * HOUR, peak=11878) for n in range(10, 13)]
    assert texts(runs, ran(99, 50 * HOUR, waits=True)) == [
        "of this user's last 12 runs of align.sh 9 ran out of memory at 8,192 MB; "
        "peak known 11,878 MB"
    ]


def test_holds_at_the_start_are_runs_that_failed() -> None:
    runs = [
        job(f"htcondor:ap:{n}.0", told(n, State.PENDING), told(n + 5, State.RUNNING),
            told(n + 9, State.HELD, code=12, hold_code=13, hold_subcode=0, reason="no file"))
        for n in range(3)
    ]  # fmt: skip
    asked_about = job("htcondor:ap:9.0", told(60, State.PENDING))
    assert texts(runs, asked_about)[-1].endswith(" 3 held at the start")


def test_wider_groups_are_told_only_where_narrower_ones_are_small() -> None:
    own = [ran(1, 0, FAILED, code=3), ran(2, HOUR, name="other", memory=1, limit=60)]
    others = [ran(n, n * HOUR, user="bob") for n in range(3, 6)]
    assert texts([*own, *others], ran(99, 50 * HOUR, waits=True)) == [
        "of this user's last 1 run of align.sh 1 failed with exit code 3",
        "of this user's last 2 runs 1 failed with exit code 3",
        "of the last 4 runs of all users with this request 1 failed with exit code 3",
    ]
    assert texts([], ran(99, 50 * HOUR, waits=True)) == []


def test_only_the_last_runs_count_and_numbers_in_names_do_not() -> None:
    runs = [ran(n, n * HOUR, FAILED if n < 5 else State.COMPLETED, name=f"sim{n}")
            for n in range(1, 26)]  # fmt: skip
    assert texts(runs, ran(99, 50 * HOUR, name="sim7", waits=True)) == [
        "of this user's last 20 runs of sim7 none failed"
    ]


def test_jobs_without_name_and_script_are_compared_by_request() -> None:
    runs = [ran(n, n * HOUR, TIMEOUT, name=None, span=HOUR) for n in range(1, 13)]
    runs.append(ran(20, 20 * HOUR, name=None, limit=60))
    assert texts(runs, ran(99, 50 * HOUR, name=None, waits=True)) == [
        "of this user's last 12 runs with this request 12 reached the time limit of 60 min"
    ]


def test_hostile_names_are_shown_harmless() -> None:
    found = texts([ran(1, 0, name=HOSTILE)], ran(99, HOUR, name=HOSTILE, waits=True))
    assert found and all(text.isprintable() for text in found)


def advice(history: Iterable[JobDocument], one: JobDocument, kind: State) -> Advice | None:
    row, groups = asked(history, one)
    return advise(row, groups.get("like"), 0.8, {kind.value: 1.0})


def test_memory_goes_above_the_largest_peak_and_what_did_not_suffice() -> None:
    runs = [ran(1, 0, OOM, peak=8190), ran(2, HOUR, memory=16384, peak=11878)]
    found = advice(runs, ran(9, 9 * HOUR, waits=True), OOM)
    assert found is not None and found.option == "--mem=13696M"
    assert found.changed == {"request_memory_mb": 13696} and found.known == 1
    assert "11,878 MB" in found.text and not found.supported
    # The peak of a run that was killed says nothing of what it needs.
    found = advice(runs[:1], ran(9, 9 * HOUR, waits=True), OOM)
    assert found is not None and found.changed["request_memory_mb"] > 8192 * 1.14
    assert found.text == "ask for more memory: 8,192 MB did not suffice"
    assert advice(runs, ran(9, 9 * HOUR, memory=20000, waits=True), OOM) is None
    assert advice([], ran(9, 9 * HOUR, waits=True), OOM) is None


def test_no_more_is_advised_than_a_node_or_the_partition_has() -> None:
    runs = [ran(1, 0, OOM, peak=8190), ran(2, HOUR, memory=16384, peak=11878)]
    row, groups = asked(runs, ran(9, 9 * HOUR, waits=True))
    like = groups["like"]
    advised = {most: advise(row, like, 0.8, {OOM.value: 1.0}, partial(Ceilings, most))
               for most in (12000.5, 11877, 20000)}  # fmt: skip
    options = [found and found.option for found in advised.values()]
    assert options == ["--mem=12000M", None, "--mem=13696M"]
    assert advised[11877] and "no node known has more" in advised[11877].text
    runs = [ran(1, 0, TIMEOUT, span=HOUR)]
    row, groups = asked(runs, ran(9, 9 * HOUR, waits=True))
    times = [advise(row, groups["like"], 0.8, {TIMEOUT.value: 1.0}, partial(Ceilings, None, most))
             for most in (HOUR + 60, HOUR)]  # fmt: skip
    assert [one and one.option for one in times] == ["--time=1:01:00", None]


def test_a_longer_limit_is_advised_where_such_runs_needed_longer() -> None:
    runs = [ran(1, 0, TIMEOUT, span=HOUR)]
    found = advice(runs, ran(9, 9 * HOUR, waits=True), TIMEOUT)
    assert found is not None and found.option == "--time=1:10:00"
    assert found.changed == {"time_limit_s": 4200}
    runs = [ran(1, 0, TIMEOUT, span=600, limit=600), ran(2, HOUR, span=900)]
    assert advice(runs, ran(9, 9 * HOUR, waits=True), TIMEOUT) is None
    assert advice(runs, ran(9, 9 * HOUR, limit=-1, waits=True), TIMEOUT) is None


@pytest.mark.parametrize(("last", "wanted"), [(FAILED, True), (State.COMPLETED, False)])
def test_a_program_that_failed_again_and_again_is_to_be_fixed(last: State, wanted: bool) -> None:
    runs = [ran(n, n * HOUR, FAILED, code=3) for n in range(1, 4)] + [
        ran(4, 4 * HOUR, last, code=3)
    ]
    found = advice(runs, ran(9, 9 * HOUR, waits=True), FAILED)
    assert (found is not None) == wanted
    if found is not None:
        assert found.text.startswith(
            "fix the program first: its last 4 runs failed: the program ended with an error "
            "(exit code 3); read the first error in its output"
        )
        assert found.option is None and not found.changed


def test_kills_at_the_limit_are_for_memory_and_others_are_not_called_a_fault_of_the_program() -> (
    None
):
    killed = [ran(n, n * HOUR, FAILED, code=137, peak=8190) for n in range(1, 5)]
    asked_about = ran(9, 9 * HOUR, waits=True)
    assert texts(killed, asked_about)[0].startswith(
        "of this user's last 4 runs of align.sh 4 ran out of memory at 8,192 MB"
    )
    found = advice(killed, asked_about, OOM)
    assert found is not None and found.option == "--mem=9472M"
    killed = [ran(n, n * HOUR, FAILED, code=137, peak=900) for n in range(1, 5)]
    found = advice(killed, asked_about, FAILED)
    assert found is not None and found.option is None
    assert found.text.startswith("find what ended it: its last 4 runs failed: it was killed")
    assert "900 MB of 8" in found.text and "ask for more if it grows" in found.text
    (said,) = texts(killed, asked_about)
    assert "4 were killed with exit code 137, as happens most often for memory" in said
    assert said.endswith("; peak known 900 MB")
    found = advice([ran(n, n * HOUR, FAILED, code=9, peak=900) for n in range(4)], asked_about,
                   FAILED)  # fmt: skip
    assert found is not None and "or it ended itself with exit code 9" in found.text


def test_what_the_shell_means_by_an_exit_code_is_said() -> None:
    found = advice([ran(n, n * HOUR, FAILED, code=127) for n in range(4)],
                   ran(9, 9 * HOUR, waits=True), FAILED)  # fmt: skip
    assert found is not None and "not found" in found.text


def test_nothing_is_advised_against_what_is_unlikely() -> None:
    job, groups = asked([ran(1, 0, OOM, peak=8190)], ran(9, HOUR, waits=True))
    assert advise(job, groups["like"], 0.2, {OOM.value: 0.3, FAILED.value: 0.7}) is None


@given(st.lists(st.tuples(st.sampled_from([OOM, State.COMPLETED]), st.integers(1, 10**7),
                          st.integers(1, 10**7)), min_size=1, max_size=8))  # fmt: skip
def test_advised_memory_is_more_than_any_run_is_known_to_need(
    runs: list[tuple[State, int, int]],
) -> None:
    made = pl.DataFrame(
        [(state.value, asked, HOUR, peak, 60.0, 0, None) for state, asked, peak in runs],
        schema={"state": pl.String, "request_memory_mb": pl.Int64, "time_limit_s": pl.Int64,
                "max_rss_mb": pl.Int64, "ran": pl.Float64, "exit_code": pl.Int64,
                "signal": pl.Int64}, orient="row",
    )  # fmt: skip
    job = {
        "request_memory_mb": 4096,
        "request_nodes": 3,
        "scheduler": "slurm",
        "time_limit_s": None,
    }
    found = advise(job, Counted("like", "user and pattern", made), 0.9, {OOM.value: 1.0})
    if found is not None:
        wanted = found.changed["request_memory_mb"]
        assert wanted > 4096 and wanted % 3 == 0
        assert wanted >= 1.15 * max(peak for _, _, peak in runs)
        assert all(wanted > asked for state, asked, _ in runs if state is OOM)


def test_a_peak_of_several_nodes_is_that_of_one_for_each() -> None:
    def on_two(document: JobDocument) -> JobDocument:
        request = msgspec.structs.replace(document.request, nodes=2)
        return msgspec.structs.replace(document, request=request)

    runs = [on_two(ran(n, n * HOUR, OOM, memory=8192, peak=4000)) for n in range(1, 6)]
    row, groups = asked(runs, on_two(ran(99, 50 * HOUR, memory=8192, waits=True)))
    assert groups["like"].largest("max_rss_mb") == 8000
    advice = advise(row, groups["like"], 0.9, {OOM.value: 1.0})
    assert advice is not None
    assert advice.changed["request_memory_mb"] > 8192
    assert advice.option is not None and int(advice.option[6:-1]) > 4096
