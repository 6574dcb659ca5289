"""Plots as inline SVG: one style, one palette, the same bytes for the same input.

Matplotlib is imported when the first plot is drawn, and never opens a window. Colours are those of
Okabe and Ito (https://jfly.uni-koeln.de/color/), which colour-blind readers can tell apart.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jobsight.questions.page import Markup, element
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BLACK", "BLUE", "GREEN", "GREY", "ORANGE", "PALETTE", "RED", "SKY", "draw"]

ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PINK, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#1b2733"
GREY = "#8a96a1"
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
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "grid.color": "#e6ebef",
    "grid.linewidth": 0.8,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "path.simplify": False,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    # Labels hold text of logs: a dollar sign there is no formula.
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": "#52606d",
    "ytick.color": "#52606d",
}


def draw(
    name: str, width: float, height: float, alternative: str, paint: Callable[[Figure], None]
) -> Markup:
    """Draw a figure as an inline SVG element that scales with the page.

    Args:
        name: of the figure on its page; keeps the ids of two figures apart.
        width: inches at which text has its nominal size.
        height: inches.
        alternative: what it shows, for readers who do not see it.
        paint: draws on the empty figure.
    """
    # Where the library keeps its cache, if the home folder is not writable, is nobody's news.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    # A figure of its own backend: nothing global, no display, no state between two figures.
    from matplotlib import style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with style.context(["default", {**_STYLE, "svg.hashsalt": name}]):
        figure = Figure(figsize=(width, height), layout="constrained")
        canvas = FigureCanvasSVG(figure)
        with warnings.catch_warnings():
            # Letters that the measuring font lacks are drawn by the reader's browser.
            warnings.filterwarnings("ignore", message="Glyph ")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            paint(figure)
            return _inline(_rendered(canvas), alternative)


def _rendered(canvas: Any) -> str:
    import io

    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    canvas.print_svg(buffer, metadata=nothing)
    return buffer.getvalue()


def _inline(svg: str, alternative: str) -> Markup:
    """The drawing without prolog and metadata, without a fixed size, with words beside it."""
    body = svg[svg.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, count=1, flags=re.S)
    box = re.search(r'viewBox="([^"]*)"', body)
    content = body[body.index(">") + 1 : body.rindex("</svg>")]
    # A style in a page is everybody's; the page's own style sheet says the same for figures.
    content = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", content, count=1, flags=re.S)
    # Ids of groups serve nobody here, and those of two figures would clash.
    content = re.sub(r'<g id="[^"]*"', "<g", content)
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
