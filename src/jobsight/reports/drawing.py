"""Plots as inline SVG: one style, one palette, the same bytes for the same input.

Matplotlib is imported when the first plot is drawn, and never opens a window. Colours are those of
Okabe and Ito (https://jfly.uni-koeln.de/color/), which colour-blind readers can distinguish.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jobsight.reports.page import Markup, element
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BLACK", "BLUE", "GREEN", "GREY", "GRID", "ORANGE", "PALETTE", "RED", "SKY",
           "clock_axis", "days", "draw", "styled", "to_svg"]  # fmt: skip

ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PINK, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#1b2733"
GREY, GRID = "#8a96a1", "#e6ebef"
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW)

_STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#a7b2bb",
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": "#37444f",
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.unicode_minus": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "path.simplify": False,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    # Labels have text of logs, in which a dollar sign does not begin a formula.
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": "#52606d",
    "ytick.color": "#52606d",
}


def days(moments: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Moments (µs since 1970) as a time axis takes them, in days: float64 (n,)."""
    from matplotlib.dates import date2num

    found = date2num(np.asarray(moments, "datetime64[us]"))  # type: ignore[no-untyped-call]
    return np.asarray(found, np.float64)


def clock_axis(axes: Axes) -> None:
    """Label the x axis, whose data are `days`, with times of day, and dates where days change."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    form = ConciseDateFormatter(locator, show_offset=False)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(form)


def draw(
    name: str,
    width: float,
    height: float,
    alternative: str,
    paint: Callable[[Figure], None],
) -> Markup:
    """Draw a figure as an inline SVG element that scales with the page.

    The `name` keeps the ids of two figures on a page apart; `width` and `height` are inches, at
    which text has its nominal size; `alternative` is what it shows, for readers who do not see it.
    """
    with styled(name):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure)
        return to_svg(figure, alternative)


@contextlib.contextmanager
def styled(name: str) -> Iterator[None]:
    """Have the figure `name`, made and written in this block, in our style."""
    # Where the library keeps its cache, if the home folder is not writable, is not worth a message.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib import style

    with (
        style.context(["default", {**_STYLE, "svg.hashsalt": name}]),
        warnings.catch_warnings(),
    ):
        # Letters that the measuring font lacks are drawn by the reader's browser.
        warnings.filterwarnings("ignore", message="Glyph ")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def to_svg(figure: Figure, alternative: str) -> Markup:
    """A figure as `draw` returns it; to be called within `styled`."""
    # A canvas of its own backend: nothing global, no display, no state between two figures.
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas: Any = FigureCanvasSVG(figure)
    buffer = io.StringIO()
    canvas.print_svg(buffer, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = buffer.getvalue()
    # Without prolog and metadata, without a fixed size, with words next to it.
    body = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", svg[svg.index("<svg") :]).strip()
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, count=1, flags=re.S)
    box = re.search(r'viewBox="([^"]*)"', body)
    content = body[body.index(">") + 1 : body.rindex("</svg>")]
    # A style in a page is everybody's; the page's own style sheet says the same for figures.
    content = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", content, count=1, flags=re.S)
    # Ids of groups are not used here, and those of two figures would clash.
    content = re.sub(r'<g id="[^"]*"', "<g", content)
    content = re.sub(r' d="([^"]*)"', lambda path: f' d="{_shortened(path[1])}"', content)
    words = printable(alternative)
    return element(
        "svg",
        element("title", words),
        Markup(content),
        class_="plot",
        role="img",
        viewBox=box[1] if box else None,
        xmlns="http://www.w3.org/2000/svg",
        xmlns__xlink="http://www.w3.org/1999/xlink",
        aria_label=words,
    )


def _shortened(path: str) -> str:
    """A path to a tenth of a point; the library writes millionths, and a line for each point."""
    return re.sub(r"(\d\.\d)\d+", r"\1", re.sub(r"\s*([A-Za-z])\s*", r"\1", path)).strip()
