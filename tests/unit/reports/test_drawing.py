import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.limits import limit

from jobsight.reports.drawing import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOSTILE = "$\\frac{ </text><script>x</script> & 你 🙂"


def paint(figure: "Figure") -> None:
    axes = figure.subplots()
    axes.plot([0, 1], [1, 0], marker="o", label=HOSTILE)
    axes.set_title(HOSTILE)
    axes.legend()


def test_text_stays_text_and_is_escaped() -> None:
    drawn = draw("one", 3, 2, HOSTILE, paint)
    assert "<script" not in drawn
    assert "&lt;script&gt;x&lt;/script&gt;" in drawn
    assert drawn.startswith("<svg ")
    assert "<style" not in drawn
    assert drawn.endswith("</svg>")
    assert "metadata" not in drawn


def test_the_same_input_gives_the_same_bytes() -> None:
    assert draw("one", 3, 2, "words", paint) == draw("one", 3, 2, "words", paint)


def test_ids_of_two_figures_differ() -> None:
    ids = [
        set(re.findall(r' id="([^"]+)"', draw(name, 3, 2, "words", paint)))
        for name in ("one", "two")
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_it_scales_with_the_page() -> None:
    head = draw("one", 3, 2, "words", paint).partition(">")[0]
    assert 'viewBox="0 0 216 144"' in head
    assert 'role="img"' in head
    assert 'aria-label="words"' in head
    assert "width" not in head


def test_drawing_changes_nothing_global() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw("one", 3, 2, "words", paint)
    assert dict(mpl.rcParams) == before


def test_nothing_is_said_where_the_home_folder_cannot_be_written() -> None:
    script = "from jobsight.reports.drawing import draw; draw('one', 3, 2, 'words', lambda _: None)"
    environment = {**os.environ, "HOME": "/proc/none"}
    for name in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment, capture_output=True, text=True, check=True, timeout=limit(120),
    )  # fmt: skip
    assert done.stderr == ""
