import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.errors import UsageError
from jobsight.ids import JobId, parse_job_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("123", JobId(123, None)),
        ("123.4", JobId(123, 4)),
        (" 123.0 ", JobId(123, 0)),
        ("(123.004.000)", JobId(123, 4)),
        ("123.12345", JobId(123, 12345)),
    ],
)
def test_forms(text: str, expected: JobId) -> None:
    assert parse_job_id(text) == expected


@pytest.mark.parametrize(
    "text", ["", "x", "1.x", "-1.0", "1.2.3.4", "1..2", "99999999999999999999", "1\n2", "²", "1;rm"]
)
def test_what_is_no_job_id_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="is not an HTCondor job id"):
        parse_job_id(text)


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(UsageError) as caught:
        parse_job_id("9" * 5000)
    assert len(str(caught.value)) < 120


@given(st.integers(0, 2**31 - 1), st.one_of(st.none(), st.integers(0, 2**31 - 1)))
def test_what_is_written_is_read_again(cluster: int, proc: int | None) -> None:
    job = JobId(cluster, proc)
    assert parse_job_id(str(job)) == job


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_job_id(text)
    except UsageError as error:
        assert "\n" not in str(error)
