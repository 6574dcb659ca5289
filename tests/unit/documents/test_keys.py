"""Ids of documents."""

import pytest

from jobsight.documents import JobKey, condor_id, number_of, parse_key, slurm_id
from jobsight.errors import UsageError


def test_ids_of_both_schedulers() -> None:
    assert condor_id("ap40.uw.osg-htc.org", 123, 4) == "htcondor:ap40.uw.osg-htc.org:123.4"
    assert slurm_id("mycluster", "123_4") == "slurm:mycluster:123_4"
    assert parse_key("slurm:mycluster:123+1") == JobKey("slurm", "mycluster", "123+1")


def test_numbers_of_ids() -> None:
    numbers = {"slurm:c:12_3": "12", "slurm:c:12+1": "12", "htcondor:a:7.0": "7", "x": "x", "": ""}
    assert {id_: number_of(id_) for id_ in numbers} == numbers
    assert {number_of(job) for job in ("12", "12_3", "12+1", "12.0")} == {"12"}


@pytest.mark.parametrize("job", ["1", "1_2", "1_[5-9%4]", "1_[1,3-5]", "1+0", "s0123456789ABC"])
def test_every_form_of_slurm(job: str) -> None:
    assert parse_key(slurm_id("c", job)).job == job


@pytest.mark.parametrize("name", ["a:b", "a b", "a%41", "é", "a\x1b[31m", "a/b#c", "x" * 300])
def test_names_of_any_letters_come_back(name: str) -> None:
    for text in (condor_id(name, 1, 0), slurm_id(name, "1")):
        key = parse_key(text)
        assert key.cluster == name
        assert str(key) == text
        assert text.isascii()
        assert len(text.split(":")) == 3
        assert not any(letter.isspace() for letter in text)


def test_a_name_that_is_no_unicode_is_no_trouble() -> None:
    assert parse_key(slurm_id("a\udcff", "1")).cluster


@pytest.mark.parametrize(
    "text",
    ["", "1", "htcondor:ap:1", "htcondor::1.0", "slurm:c:1.0", "slurm:c:", "pbs:c:1", "slurm:c:1:2",
     "htcondor:ap:1.0\n", "slurm:c:١", "htcondor:ap:" + "1" * 30 + ".0", "x" * 10_000],
)  # fmt: skip
def test_what_is_no_id_is_told_in_one_short_line(text: str) -> None:
    with pytest.raises(UsageError, match="is not a job document's id") as raised:
        parse_key(text)
    assert len(str(raised.value)) < 250
    assert "\n" not in str(raised.value)
