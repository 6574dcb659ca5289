"""Paths and labels of pictures."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.questions.sweeps.svg import Box, label, linked, picture, polyline

COORDINATES = st.lists(
    st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000) | st.just(math.nan)), max_size=30
)


def points_of(path: str) -> list[tuple[float, float]]:
    """Points of a path of moves and relative lines."""
    at, points = (0.0, 0.0), []
    for kind, rest in re.findall(r"([Ml])([^Ml]*)", path):
        x, y = map(float, re.findall(r"-?(?:\d+\.?\d*|\.\d+)", rest))
        at = (x, y) if kind == "M" else (at[0] + x, at[1] + y)
        points.append(at)
    return points


@given(COORDINATES)
def test_relative_moves_do_not_drift(given: list[tuple[float, float]]) -> None:
    x = np.array([p[0] for p in given])
    y = np.array([p[1] for p in given])
    found = points_of(polyline(x, y))
    wanted = [(a, b) for a, b in given if math.isfinite(b)]
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, abs=0.051 + 1e-9)


def test_a_gap_breaks_the_line() -> None:
    path = polyline([0, 1, 2, 3], [0.0, math.nan, 2.0, 3.0])
    assert path == "M0 0M2 2l1 1"


def test_labels_are_escaped_cut_and_whole_under_the_pointer() -> None:
    found = label(0, 0, "<b>" + "x" * 80, width=61)
    assert "<b>" not in found
    assert f"<title>&lt;b&gt;{'x' * 80}</title>" in found
    assert "…" in found
    assert "<title>" not in label(0, 0, "short", width=61)


def test_pictures_tell_what_they_show() -> None:
    found = picture(Box(10, 20, left=1, right=2, top=3, bottom=4), "What", "<More>")
    assert "<title>What</title><desc>&lt;More&gt;</desc>" in found
    assert 'viewBox="0 0 10 20"' in found
    assert 'role="img"' in found


def test_marks_lead_to_the_row_of_their_run() -> None:
    assert linked(7, "run 7").startswith('<a href="#r7" tabindex="-1"><title>run 7</title>')
