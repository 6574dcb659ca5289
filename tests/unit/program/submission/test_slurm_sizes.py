"""Memory and trackable resources."""

from __future__ import annotations

import pytest

from jobsight.program.submission.sizes import Memory, gpus, parse_memory, parse_number, parse_tres

MB, GB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4G", Memory(4 * GB, None)),
        ("4Gc", Memory(4 * GB, "cpu")),
        ("4000Mn", Memory(4000 * MB, "node")),
        ("1.5T", Memory(1536 * GB, None)),
        ("205508K", Memory(205508 << 10, None)),
        ("500", Memory(500 * MB, None)),
        ("0", Memory(0, None)),
        ("?", None),
        ("18446744073709551616.00M", None),
        ("", None),
        ("N/A", None),
    ],
)
def test_memory(text: str, expected: Memory | None) -> None:
    assert parse_memory(text) == expected


@pytest.mark.parametrize("text", ["4X", "G", "-1G", "4 G", "999999999999999999999T"])
def test_what_is_no_memory(text: str) -> None:
    with pytest.raises(ValueError, match="memory"):
        parse_memory(text)


def test_counts_may_have_units() -> None:
    assert parse_number("12") == 12
    assert parse_number("2K") == 2048
    assert parse_number("") is None


def test_resources() -> None:
    found = parse_tres("cpu=4,mem=16G,node=1,gres/gpu:a100=2,billing=8,gres/gpu=2")
    assert found == {
        "cpu": 4,
        "mem": 16 * GB,
        "node": 1,
        "gres/gpu:a100": 2,
        "billing": 8,
        "gres/gpu": 2,
    }
    assert gpus(found) == 2
    assert gpus(parse_tres("gres/gpu:a100=2,gres/gpu:v100=1")) == 3
    assert gpus({"cpu": 1}) is None


def test_resources_are_named_by_sites() -> None:
    """Licenses of servers are named so (`sacctmgr add resource`), and sites name GRES."""
    found = parse_tres("cpu=1,license/matlab@flex=2,gres/fpga#é=1")
    assert found == {"cpu": 1, "license/matlab@flex": 2, "gres/fpga#é": 1}


def test_used_resources() -> None:
    text = "cpu=00:01:02,energy=0,fs/disk=10485,mem=4128K,pages=0,vmem=0"
    found = parse_tres(text)
    assert (found["cpu"], found["fs/disk"], found["mem"]) == (62, 10485, 4128 << 10)
    assert parse_tres("") == {}
    assert parse_tres("cpu=N/A") == {}


@pytest.mark.parametrize("text", ["cpu", "cpu=x", "=4", "a b=4"])
def test_what_is_no_resource(text: str) -> None:
    with pytest.raises(ValueError):
        parse_tres(text)
