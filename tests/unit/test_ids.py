import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.errors import UsageError
from jobsight.ids import JobId, parse_job_id, parse_job_name


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
    "text",
    ["", "x", "1.x", "-1.0", "1.2.3", "1..2", "1_", "99999999999999999999", "1\n2", "²", "1;rm",
     "(1.2", "slurm:c", "pbs:c:1", "1\x1b[2J"],
)  # fmt: skip
def test_what_is_not_a_job_id_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="is not a job id") as raised:
        parse_job_name(text)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("text", ["12_3", "12+1", str(2**31), "s0123456789abc"])
def test_an_id_of_slurm_is_not_one_of_htcondor(text: str) -> None:
    with pytest.raises(UsageError, match="is not an HTCondor job id"):
        parse_job_id(text)


@pytest.mark.parametrize(
    ("text", "place", "job", "number"),
    [
        (" 12 ", None, "12", "12"),
        ("12.3", None, "12.3", "12"),
        ("(0012.0003.000)", None, "12.3", "12"),
        ("12_3", None, "12_3", "12"),
        ("12+1", None, "12+1", "12"),
        ("12_3+1", None, "12_3+1", "12"),
        ("12_3.batch", None, "12_3", "12"),
        ("slurm:c:12", "slurm:c", "12", "12"),
        ("slurm:c:12_[3-9,11%2]", "slurm:c", "12_[3-9,11%2]", "12"),
        ("htcondor:ap%3A1:12.3", "htcondor:ap%3A1", "12.3", "12"),
        ("s0123456789abc", None, "s0123456789abc", "s0123456789abc"),
    ],
)
def test_forms_of_names(text: str, place: str | None, job: str, number: str) -> None:
    name = parse_job_name(text)
    assert (name.place, name.job, name.number) == (place, job, number)
    assert parse_job_name(str(name)) == name


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(UsageError) as caught:
        parse_job_id("9" * 5000)
    assert len(str(caught.value)) < 130


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
