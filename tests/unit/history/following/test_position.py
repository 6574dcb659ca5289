"""Gaps between files of a log, by what their headers tell."""

from typing import Any

import pytest

from jobsight.history.following.position import Place, gap_between


def place(**told: Any) -> Place:
    return Place(name="n", kind="text", first=0, segment="n", **told)


OLD = place(sequence=39, base=1000)


@pytest.mark.parametrize(
    ("new", "gone", "expected"),
    [
        (place(sequence=40, base=1100), False, None),
        (place(sequence=42, base=1350), False, ("rotated", 2, 250)),
        (place(sequence=40, base=1150), True, ("gone", 0, 50)),
        # Begun anew: nothing need lie between; or the first of the new numbers do.
        (place(sequence=1, base=0), False, None),
        (place(sequence=3, base=220), False, ("rotated", 2, 220)),
        (place(sequence=45, base=300), False, ("rotated", 44, 300)),
        (place(sequence=3, base=220), True, ("gone", None, None)),
        (place(), False, None),
        (place(), True, ("gone", None, None)),
    ],
)
def test_what_lies_between_two_files(
    new: Place, gone: bool, expected: tuple[str, int | None, int | None] | None
) -> None:
    gap = gap_between(OLD, 100, new, noticed=7, gone=gone)
    assert (gap and (gap.kind, gap.files, gap.bytes)) == expected
