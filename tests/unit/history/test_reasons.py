import json
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.history import reasons

TRANSFER = (
    "Transfer input files failure at execution point slot1_3@sprace@vm using protocol lab. "
    "Details: could not reach cache from SPRACE: connection reset by peer (ap20) "
    "( URL file = lab://ap20/data/u01/325 )|"
)
OUTPUT = (
    "Transfer output files failure at execution point slot1_2@e9.chtc.wisc.edu while sending files "
    "to access point learn. Details: reading from file /var/lib/condor/execute/dir_1/a.csv: "
    "(errno 2) No such file or directory"
)
INTERPRETER = (
    "Error from slot1_7@mwt2@vm: Failed to execute '/var/execute_mwt2/dir_9/badexe.py' with "
    "arguments run=35.9: invalid interpreter (/opt/none/bin/python) specified on first line of "
    "script (errno=2: 'No such file or directory')"
)
SHADOW = (
    "Error from ip-1-2.ec2.internal: SHADOW at 10.0.0.9 failed to send file(s) to "
    "<10.1.2.3:4567>: error reading from /home/x/train3.svm: (errno 2) No such file or directory"
)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (None, ""),
        (" \t ", ""),
        ("job exited with code 137", "job exited with code 137"),
        (
            "memory usage 196 MB exceeded request_memory 128 MB",
            "memory usage # MB exceeded request_memory # MB",
        ),
        (
            TRANSFER,
            "Transfer input files failure at execution point <slot> using protocol lab. Details: "
            "could not reach cache from <site>: connection reset by peer (<origin>) "
            "( URL file = <url> )",
        ),
        (
            OUTPUT,
            "Transfer output files failure at execution point <slot> while sending files to "
            "access point <host>. Details: reading from file <path>: "
            "(errno 2) No such file or directory",
        ),
        ("via condor_rm (by user ann)", "via condor_rm (by user <user>)"),
        (
            "The job attribute PeriodicHold expression '(NumJobStarts >= 3)' evaluated to TRUE",
            "The job attribute PeriodicHold expression '(NumJobStarts >= #)' evaluated to TRUE",
        ),
        ('cannot open "my.dat" on node7.example.org', "cannot open <name> on <name>"),
        ("request deadbeef01-77 of 1.5 s failed", "request # of # s failed"),
    ],
)
def test_mask_keeps_the_cause(reason: str | None, cause: str) -> None:
    assert reasons.mask(reason) == cause


def test_mask_is_one_for_all_jobs_of_a_cause() -> None:
    other = TRANSFER.replace("slot1_3@sprace", "slot9_1@mwt2").replace("SPRACE", "MWT2")
    other = other.replace("ap20", "registry").replace("u01/325", "u07/1")
    assert reasons.mask(other) == reasons.mask(TRANSFER)


@given(st.text(max_size=3000))
def test_no_text_makes_it_fail(text: str) -> None:
    cause = reasons.mask(text)
    assert len(cause) <= reasons.MASK_LENGTH
    assert all(unicodedata.category(one) not in ("Cc", "Cs") for one in cause)
    reasons.site(text, text)
    reasons.origin(text)
    reasons.amounts_named(text, "memory", [1.0])
    reasons.bare_number(text, "disk")


@pytest.mark.parametrize("text", ["(" * 5000, "a@" * 5000, "a." * 5000, "x://" * 3000, "'" * 4000])
def test_hostile_texts_are_bounded(text: str) -> None:
    assert len(reasons.mask(text)) <= reasons.MASK_LENGTH


def test_masked_handles_nulls_and_none_at_all() -> None:
    assert reasons.masked(pl.Series(["code 12", None])).to_list() == ["code 12", ""]
    assert reasons.masked(pl.Series([None, None], dtype=pl.String)).to_list() == ["", ""]
    assert reasons.masked(pl.Series([], dtype=pl.String)).to_list() == []


def test_a_url_without_a_host_is_one() -> None:
    for scheme in ("osdf", "stash", "igwn+osdf", "file"):
        text = f"Client Error: object not found ( URL file = {scheme}:///lab/in_9.tar.gz )|"
        assert reasons.mask(text) == "Client Error: object not found ( URL file = <url> )"
    assert reasons.origin("x igwn+osdf:///IGWN/a.gwf failed") == "igwn+osdf:///igwn"
    assert reasons.origin("x file:///home/ann/a failed") is None
    director = 'Get "https://director.org/lab/a": i/o timeout ( URL file = osdf:///lab/a )|'
    assert reasons.origin(director) == "osdf:///lab"
    assert reasons.origin("x osdf:// y") is None


def test_mask_of_a_site_that_a_plugin_names() -> None:
    masks = {
        reasons.mask(
            f"upload aborted (Version: 7.26.{k}; Site: S{k}-x) ( URL file = osdf:///a/{k} )"
        )
        for k in range(3)
    }
    assert masks == {"upload aborted (Version: <name>; Site: <site>) ( URL file = <url> )"}


def test_origin_of_a_transfer() -> None:
    assert reasons.origin(TRANSFER) == "lab://ap20"
    assert reasons.origin("from OSDF://me:secret@Cache.org:8443/a failed") == "osdf://cache.org"
    assert reasons.origin(SHADOW) == "10.0.0.9"
    assert reasons.origin(OUTPUT) == "learn"
    assert reasons.origin("job exited with code 1") is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("slot1_3@mwt2@vm", "mwt2"),
        ("slot1_3@MWT2@vm", "mwt2"),
        ("slot1_1@vm", None),
        ("slot1@glidein_4_1@d6chas12.crc.nd.edu", "crc.nd.edu"),
        ("e2018.chtc.wisc.edu", "chtc.wisc.edu"),
        ("<128.104.1.2:9618?addrs=x&alias=e18.chtc.wisc.edu&sock=s>", "chtc.wisc.edu"),
        ("<128.104.1.2:9618>", None),
        (SHADOW, "ec2.internal"),
        (TRANSFER, "sprace"),
        ("job exited with code 1", None),
        (None, None),
    ],
)
def test_site(text: str | None, place: str | None) -> None:
    assert reasons.site(text) == place


def test_the_ad_goes_before_the_slot_and_means_the_same_place() -> None:
    ad = json.dumps({"MATCH_EXP_JOBGLIDEIN_Site": "MWT2"})
    assert reasons.site("slot1_3@ucsd@vm", ad) == "mwt2"
    unevaluated = json.dumps({"JOBGLIDEIN_Site": "$$(GLIDEIN_Site:Unknown)"})
    assert reasons.site("slot1_3@ucsd@vm", unevaluated) == "ucsd"
    assert reasons.site("slot1_3@ucsd@vm", '["GLIDEIN_Site"]') == "ucsd"
    assert reasons.site("slot1_3@ucsd@vm", '{"GLIDEIN_Site') == "ucsd"


def test_sites_of_columns() -> None:
    texts = pl.Series(["slot1@a1@h", "slot1@b1@h", None])
    ads = pl.Series([None, json.dumps({"MATCH_GLIDEIN_Site": "C1"}), None], dtype=pl.String)
    assert reasons.sites(ads, texts).to_list() == ["a1", "c1", None]


def megabytes(text: str, *known: float) -> tuple[float | None, ...]:
    sizes = [one * 2**20 for one in known]
    found = reasons.amounts_named(text, "memory", sizes)
    return tuple(one and one / 2**20 for one in found)


def test_amounts_of_memory() -> None:
    assert megabytes("memory usage 196 MB exceeded request_memory 128 MB") == (196, 128)
    text = "Job has gone over memory limit of 2000 megabytes. Peak usage: 14069 megabytes."
    assert megabytes(text) == (14069, 2000)
    assert megabytes("memory usage of 2 GiB over request_memory 512 KB") == (2048, 0.5)
    text = "over cgroup memory limit of 1024 megabytes. Last measured usage: 3000 megabytes."
    assert megabytes(text) == (3000, 1024)
    assert megabytes("memory exceeded: 3000 MB used of 1024 MB requested") == (3000, 1024)
    assert megabytes("Docker job has gone over memory limit of 8055 Mb") == (None, 8055)
    assert megabytes("disk usage exceeded request_disk") == (None, None)


@pytest.mark.parametrize(
    ("text", "known", "used"),
    [
        ("memory usage 3000000.", [2048], 3000000 / 1024),
        ("memory usage 3000", [2048], 3000),
        ("memory usage 3145728000", [2048], None),
        ("memory usage 3", [2048], None),
        ("memory usage 3000000", [], None),
        ("memory usage 50", [2048], None),
        ("memory usage 3000 exceeds the limit of 2 GB", [], 3000),
    ],
)
def test_a_number_without_a_unit_is_in_that_of_what_is_known(
    text: str, known: list[float], used: float | None
) -> None:
    assert megabytes(text, *known)[0] == used
    assert reasons.bare_number(text, "memory") == text.split()[2].rstrip(".")


def test_amounts_of_disk() -> None:
    text = "disk usage of 5 GB over the limit of 1 GB"
    assert reasons.amounts_named(text, "disk") == (5 * 2**30, 2**30)


def test_of_a_long_text_no_more_is_kept_than_is_read() -> None:
    text = "Error from slot1@site@h: a://host/f timed out " + "x" * 5000
    reasons._MASKS.clear()
    reasons._origin.cache_clear()
    for tail in ("a", "b"):
        reasons.mask(text + tail)
        reasons.origin(text + tail)
    assert len(reasons._MASKS) == 1
    assert reasons._origin.cache_info().currsize == 1


@pytest.mark.parametrize("damage", [None, b"", b'{"a": 1}'])
def test_masks_are_kept_between_calls(
    damage: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = [f"Error from slot1@{chr(97 + number % 26)}{number}@h: code 2" for number in range(150)]
    reasons._MASKS.clear()
    with reasons.kept_masks():
        masks = [reasons.mask(text) for text in texts]
    (kept,) = (tmp_path / "jobsight" / "masks").iterdir()
    if damage is not None:
        kept.write_bytes(damage)
    reasons._MASKS.clear()
    with reasons.kept_masks():
        assert len(reasons._MASKS) == (150 if damage is None else 0)
        assert [reasons.mask(text) for text in texts] == masks
