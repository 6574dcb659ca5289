import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.documents import JobKey, State, encode, merge
from jobsight.service.notices.watching import Notice, PoisonError, read_notice
from jobsight.settings import KafkaSettings

NOW = 1_795_224_900_000_000
SETTINGS = KafkaSettings(
    message_bytes=10_000, jobcomp={"c1": "c1", "c1-job-start": "c1", "all": "*", "big": "Blue"}
)


ENDED = {"jobid": 1, "state": "FAILED", "@end": "2026-11-21T01:00:00"}


def read(value: bytes | str | dict[str, Any] | None, topic: str = "notices") -> Notice:
    if isinstance(value, dict):
        value = json.dumps(value)
    data = value.encode() if isinstance(value, str) else value
    return read_notice(data, topic, SETTINGS, sent=NOW, now=NOW)


@pytest.mark.parametrize(
    ("job", "name"),
    [("123", "123"), (123, "123"), (" 123_4 ", "123_4"), ("123+1", "123+1"),
     ("sABCDEFGHIJKLM", "sABCDEFGHIJKLM"), ("123.4", "123.4"), ("123.004", "123.4")],
)  # fmt: skip
def test_a_notice_names_its_job(job: str | int, name: str) -> None:
    scheduler = "htcondor" if "." in name else "slurm"
    assert read({"cluster": "c1", "job_id": job}) == Notice(JobKey(scheduler, "c1", name), NOW)


def test_a_notice_names_a_job_and_no_more_is_read() -> None:
    forged = ENDED | {"cluster": "c1", "job_id": 5, "time": "never", "script": "evil"}
    assert read(forged) == Notice(JobKey("slurm", "c1", "5"), NOW)


def test_what_a_message_may_say_is_decided_by_its_topic() -> None:
    with pytest.raises(PoisonError, match="its topic is not one of"):
        read(ENDED | {"cluster": "c1"}, "notices")
    with pytest.raises(PoisonError, match="jobcomp: jobid: missing"):
        read({"cluster": "c1", "job_id": 5}, "c1")
    with pytest.raises(PoisonError, match="jobcomp: not of the cluster"):
        read(ENDED | {"cluster": "c2"}, "c1")
    with pytest.raises(PoisonError, match="not of the cluster"):
        read(ENDED, "all")
    assert read(ENDED, "c1").key.cluster == "c1"
    assert read(ENDED | {"cluster": "c2"}, "all").key.cluster == "c2"


def test_a_slurm_cluster_is_called_as_slurm_calls_it() -> None:
    assert read({"cluster": "Blue", "job_id": "1"}).key.cluster == "blue"
    assert read({"cluster": "AP.Example", "job_id": "1.0"}).key.cluster == "AP.Example"
    for notice in (read(ENDED | {"cluster": "Blue"}, "big"), read(ENDED, "big")):
        assert notice.document is not None
        assert (notice.key.cluster, notice.document.id) == ("blue", "slurm:blue:1")


def test_an_end_in_the_future_is_refused_beyond_the_skew_of_clocks() -> None:
    assert read(ENDED | {"@end": "2026-11-21T01:35:10"}, "c1").document is not None
    with pytest.raises(PoisonError, match="a time in the future; see that the clocks agree"):
        read(ENDED | {"@end": "2026-11-21T01:35:11"}, "c1")


def test_a_job_cancelled_before_it_was_eligible_is_no_job_of_the_future() -> None:
    waited = {"state": "CANCELLED", "@submit": "2026-11-21T00:00:00"}
    notice = read(ENDED | waited | {"@eligible": "2026-12-24T00:00:00"}, "c1")
    assert notice.document is not None
    assert [event.word for event in notice.document.timeline] == ["PENDING", "CANCELLED"]


def test_slurm_hands_on_whatever_bytes_a_script_holds() -> None:
    told = b'{"jobid": 1, "state": "FAILED", "@end": "2026-11-21T01:00:00", '
    notice = read(told + b'"script": "#!/bin/sh\\n# caf\xe9\\n", "job_name": "\xff"}', "c1")
    assert notice.document is not None
    assert notice.document.submission.script == "#!/bin/sh\n# caf\ufffd\n"


NO_JOBS = (None, True, 1.5, -1, 0, 2**40, "9" * 400, "99999999999.0", "1; rm -rf /", "1.batch")
NO_CLUSTERS = ("", 7, "c" * 300, "a\x1b[31mb", "\ud800")
ENDS = {"jobid": 12, "state": "FAILED"}


@pytest.mark.parametrize(
    ("topic", "value", "reason"),
    [
        ("notices", None, "no value"),
        ("notices", b"", "no JSON"),
        ("notices", b"\xff\xfe{}", "no UTF-8"),
        ("notices", b"{", "no JSON"),
        ("notices", b"[1]", "no JSON object"),
        ("notices", b'"text"', "no JSON object"),
        ("notices", b"[" * 9_000, "no JSON"),
        ("notices", b" " * 10_001, "bytes are more than"),
        ("notices", {}, "cluster"),
        *(("notices", {"cluster": name, "job_id": 1}, "cluster") for name in NO_CLUSTERS),
        ("notices", {"cluster": "c"}, "job_id"),
        *(("notices", {"cluster": "c", "job_id": job}, "job_id") for job in NO_JOBS),
        ("notices", {"cluster": "c", "job_id": "0.0"}, "out of range"),
        ("notices", {"cluster": "c", "job_id": "1_[0-9]"}, "several tasks"),
        ("c1", {"jobid": "12"}, "jobcomp: jobid"),
        ("c1", {"jobid": 12, "state": "NAPPING"}, "jobcomp: state"),
        ("c1", {"jobid": 12, "state": ["FAILED"]}, "jobcomp: state"),
        ("c1", ENDS, "jobcomp: no time"),
        ("c1", ENDS | {"@submit": "9999-01-01T00:00:00"}, "in the future"),
        ("c1", ENDS | {"@submit": 7}, "jobcomp: @submit"),
        ("c1", ENDS | {"@submit": "soon"}, "jobcomp"),
        ("c1", ENDS | {"@submit": "1970-01-01T00:00:01"}, "cannot be"),
    ],
)
def test_poison_has_a_reason(topic: str, value: bytes | dict[str, Any] | None, reason: str) -> None:
    with pytest.raises(PoisonError, match=reason) as caught:
        read(value, topic)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_message_of_jobcomp_tells_of_the_whole_job() -> None:
    message = {
        "jobid": 12, "array_job_id": 10, "array_task_id": 2, "username": "ann", "state": "FAILED",
        "@submit": "2026-11-21T01:00:00", "@eligible": "2026-11-21T01:00:00", "nodes": "n1",
        "@start": "2026-11-21T01:05:00", "@end": "2026-11-21T01:06:00", "exit_code": "3:0",
        "elapsed": 60, "total_cpus": 2, "tres_req": "cpu=2,mem=4G,node=1", "job_name": "x",
    }  # fmt: skip
    notice = read(message, "c1-job-start")
    assert notice.key == JobKey("slurm", "c1", "10_2")
    assert notice.document is not None
    document = merge(None, notice.document)
    assert document.id == "slurm:c1:10_2"
    assert document.state is State.FAILED
    assert document.outcome is not None
    assert document.outcome.exit_code == 3
    assert document.submission.array == "10"
    assert document.request.memory_mb == 4096


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["cluster", "job_id", "state", "time", "jobid", "array_job_id", "array_task_id", "het_job_id",
     "het_job_offset", "@submit", "@start", "@end", "nodes", "exit_code", "tres_req", "script",
     "time_limit", "elapsed", "username"]
)  # fmt: skip
LIKELY = st.sampled_from(
    ["c", 12, "12", "1_2", "COMPLETED", "FAILED", "2026-11-21T01:00:00", "0:9", "cpu=1,mem=1G"]
)


@given(st.dictionaries(NAMES, LIKELY | JSON_VALUES, max_size=12))
@pytest.mark.parametrize("topic", ["notices", "all"])
def test_any_object_is_a_notice_that_can_be_stored_or_poison(
    topic: str, told: dict[str, Any]
) -> None:
    try:
        notice = read(json.dumps(told), topic)
    except PoisonError:
        return
    assert str(notice.key).count(":") == 2
    if notice.document is not None:
        try:
            encode(merge(None, notice.document))
        except Exception as error:
            assert "surrogates" in str(error)  # the store leaves such a document out


@given(st.binary(max_size=200))
def test_any_bytes_are_a_notice_or_poison(value: bytes) -> None:
    with pytest.raises(PoisonError):
        read(value)
