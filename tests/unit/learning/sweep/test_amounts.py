from typing import Any

import pytest

from jobsight.learning.sweep.sections import megabytes, seconds


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("4 GB", 4096), ("512M", 512), ("1.5GiB", 1536), ("2 tb", 2 << 20), ("10 KB", 1), (7, 7)],
)
def test_sizes(text: Any, wanted: int) -> None:
    assert megabytes(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2 h", 7200),
        ("90 min", 5400),
        ("90m", 5400),
        ("1.5 hours", 5400),
        ("30s", 30),
        ("45 seconds", 45),
        ("2 days", 172_800),
        ("1w", 604_800),
        ("12:00:00", 43_200),
        ("1-12:00:05", 129_605),
        (60, 60),
    ],
)
def test_spans(text: Any, wanted: int) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "4", "lots", "4 PB", "-4 GB", "4 GB please", "١ GB"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="4 GB or 512 MB"):
        megabytes(text)


@pytest.mark.parametrize("text", ["", "4", "soon", "1:00", "12:61:00", "4 months", "-1 h"])
def test_no_spans(text: str) -> None:
    with pytest.raises(ValueError, match="2 h, 90 min"):
        seconds(text)
