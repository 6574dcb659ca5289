"""Job ids in every form."""

from __future__ import annotations

import pytest

from jobsight.history.slurm.ids import SlurmId, Tasks, expand, pack, parse_id, parse_tasks, unpack


@pytest.mark.parametrize(
    ("text", "expected", "name", "base"),
    [
        ("123", SlurmId(123), "123", "123"),
        ("123_4", SlurmId(123, task=4), "123_4", "123"),
        ("123+1", SlurmId(123, component=1), "123+1", "123"),
        ("123.0", SlurmId(123, step="0"), "123", "123"),
        ("123.batch", SlurmId(123, step="batch"), "123", "123"),
        ("123_4.extern", SlurmId(123, task=4, step="extern"), "123_4", "123"),
        ("123+1.0+1", SlurmId(123, component=1, step="0+1"), "123+1", "123"),
        ("123.interactive", SlurmId(123, step="interactive"), "123", "123"),
        ("sA5XM7YC7SJ400", SlurmId(None, sluid="sA5XM7YC7SJ400"), *["sA5XM7YC7SJ400"] * 2),
    ],
)
def test_ids(text: str, expected: SlurmId, name: str, base: str) -> None:
    found = parse_id(text)
    assert found == expected
    assert (found.name, found.base) == (name, base)


@pytest.mark.parametrize(
    ("text", "tasks", "cut"),
    [
        ("123_[0-3%4]", [0, 1, 2, 3], False),
        ("123_[1,3,5-9:2]", [1, 3, 5, 7, 9], False),
        ("123_[7]", [7], False),
        ("123_[1,3,...]", [1, 3], True),
        ("123_[1-2,...%7]", [1, 2], True),
        ("123_[0x16]", [1, 2, 4], False),
        ("123_[0x16%2]", [1, 2, 4], False),
    ],
)
def test_pending_tasks(text: str, tasks: list[int], cut: bool) -> None:
    found = parse_id(text).tasks
    assert found is not None
    assert (list(found), found.cut) == (tasks, cut)
    assert found.count() == len(tasks)


@pytest.mark.parametrize(
    "text",
    ["", "x", "0", "-1", "12_", "12_[", "12_[a]", "12_[3-1]", "12_[1-9:0]", "12_[1%]", "12__3",
     "99999999999", "12+", "12.", "12.Batch", "s123", "12 13", "12_[1]_3", "4294967296"],
)  # fmt: skip
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        parse_id(text)


def test_huge_arrays_take_no_room_until_expanded() -> None:
    job = parse_id("5_[0-4000000000]")
    tasks, left_out = expand(job, 3)
    assert [task.name for task in tasks] == ["5_0", "5_1", "5_2"]
    assert left_out == 4_000_000_001 - 3
    assert expand(parse_id("5"), 3) == ([parse_id("5")], 0)


def test_numbers_packed_and_unpacked() -> None:
    numbers = [7, 1, 2, 3, 5, 2]
    assert pack(numbers) == "1-3,5,7"
    assert unpack(pack(numbers), 100) == [1, 2, 3, 5, 7]
    assert unpack(pack(numbers), 3) == [3, 5, 7]
    assert unpack("0-4000000000", 2) == [3999999999, 4000000000]
    assert unpack("", 5) == []
    with pytest.raises(ValueError):
        unpack("1-", 5)


def test_an_empty_mask_has_no_tasks() -> None:
    assert parse_tasks("0x0") == Tasks(())
