"""Pictures as small inline SVG, drawn by hand.

Colours are classes, so that the page's own style makes them light or dark, and a thousand runs
stay a thousand short paths. Coordinates are CSS pixels at full width. Every picture has a title
and a description.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from jobsight.questions.page import Markup, element, join
from jobsight.questions.sweeps.scales import Axis, Floats
from jobsight.text import printable

__all__ = [
    "Box",
    "curve",
    "dot",
    "label",
    "linked",
    "picture",
    "polyline",
    "segment",
    "x_axis",
    "y_axis",
]

_LETTER, _BOLD = 6.1, 7.2
"""Mean width of a letter of the pictures' text, small or bold, in pixels; generous."""


class Box:
    """The rectangle that data are drawn in, and the picture's size around it."""

    def __init__(
        self, width: float, height: float, *, left: float, right: float, top: float, bottom: float
    ) -> None:
        self.width, self.height = width, height
        self.left, self.right = left, width - right
        self.top, self.bottom = top, height - bottom

    def x(self, place: float) -> float:
        """Pixels from the left of a place between 0 and 1."""
        return self.left + place * (self.right - self.left)

    def y(self, place: float) -> float:
        """Pixels from the top of a place between 0 (bottom) and 1 (top)."""
        return self.bottom - place * (self.bottom - self.top)

    def xs(self, places: Floats) -> Floats:
        """`x` of n places."""
        return self.left + places * (self.right - self.left)

    def ys(self, places: Floats) -> Floats:
        """`y` of n places."""
        return self.bottom - places * (self.bottom - self.top)


def picture(
    box: Box, title: str, description: str, *children: Markup | None, class_: str | None = None
) -> Markup:
    """An SVG element as wide as its place.

    Args:
        box: whose size it has.
        title: what it is, in a few words.
        description: what it shows, for readers who do not see it.
        children: drawn one over another.
        class_: of the style sheet.
    """
    return element(
        "svg",
        element("title", printable(title, 200)),
        element("desc", printable(description, 2000)),
        *children,
        role="img",
        viewBox=f"0 0 {box.width:g} {box.height:g}",
        class_=class_,
    )


def _pixel(value: float) -> str:
    """A coordinate to a tenth of a pixel, in few letters."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def label(
    x: float, y: float, text: str, *, anchor: str | None = None, class_: str | None = None,
    width: float | None = None, title: str | None = None,
) -> Markup:  # fmt: skip
    """Text; where it is wider than `width` pixels it is cut, and whole in what hovering shows."""
    letter = _LETTER if class_ is None else _BOLD
    most = None if width is None else max(3, int(width / letter))
    shown = printable(text, most)
    whole = title or (printable(text, 200) if shown != printable(text) else None)
    return element(
        "text",
        None if whole is None else element("title", whole),
        shown,
        x=_pixel(x),
        y=_pixel(y),
        text_anchor=anchor,
        class_=class_,
    )


def segment(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    ends = f"M{_pixel(x1)} {_pixel(y1)}L{_pixel(x2)} {_pixel(y2)}"
    return element("path", d=ends, class_=class_)


def polyline(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> str:
    """The path through n points, broken where one has no place; in pixels, as moves from the last.

    A path of whole pixels would show its steps; of absolute tenths it would be twice as long.
    """
    across = np.asarray(x, np.float64)
    down = np.asarray(y, np.float64)
    parts: list[str] = []
    last: tuple[int, int] | None = None
    there = np.isfinite(across) & np.isfinite(down)
    for a, b, drawn in zip(across.tolist(), down.tolist(), there.tolist(), strict=True):
        if not drawn:
            last = None
            continue
        # Tenths as integers, so that moves do not add up their roundings.
        at = (round(10 * a), round(10 * b))
        if last is None:
            parts.append(f"M{_tenths(at[0])} {_tenths(at[1])}")
        else:
            parts.append(f"l{_tenths(at[0] - last[0])} {_tenths(at[1] - last[1])}")
        last = at
    return "".join(parts).replace(" -", "-")


def _tenths(value: int) -> str:
    text = f"{value / 10:.1f}".replace("0.", ".", 1) if abs(value) < 10 else f"{value / 10:.1f}"
    return text[:-2] or "0" if text.endswith(".0") else text


def curve(x: Sequence[float], y: Sequence[float]) -> str:
    """A path through n ≥ 2 points, level at each: lines that meet at an axis can be told apart."""
    parts = [f"M{_pixel(x[0])} {_pixel(y[0])}"]
    for k in range(1, len(x)):
        bend = 0.4 * (x[k] - x[k - 1])
        before, after = _pixel(x[k - 1] + bend), _pixel(x[k] - bend)
        parts.append(
            f"C{before} {_pixel(y[k - 1])} {after} {_pixel(y[k])} {_pixel(x[k])} {_pixel(y[k])}"
        )
    return "".join(parts)


def dot(x: float, y: float, radius: float, class_: str) -> Markup:
    """A disc."""
    return element("circle", cx=_pixel(x), cy=_pixel(y), r=_pixel(radius), class_=class_)


def linked(number: int, words: str | None, *children: Markup) -> Markup:
    """What shows a run: leads to its row in the table, and says its words under the pointer."""
    told = None if words is None else element("title", words)
    return element("a", told, *children, href=f"#r{number}", tabindex="-1")


def x_axis(
    box: Box, axis: Axis, *, name: str | None = None, most: int = 5, room: float | None = None
) -> Markup:
    """Ticks below the box, with faint lines through it."""
    ticks = axis.ticks(most)
    wide = room or (box.right - box.left) / max(len(ticks), 1) - 2
    parts: list[Markup] = []
    for place, text in ticks:
        at = box.x(place)
        parts.append(segment(at, box.top, at, box.bottom, "g"))
        parts.append(label(at, box.bottom + 15, text, anchor="middle", width=wide))
    if name is not None:
        middle = (box.left + box.right) / 2
        parts.append(label(middle, box.bottom + 32, name, anchor="middle", class_="n"))
    return element("g", *parts, class_="axis")


def y_axis(box: Box, axis: Axis, *, flip: bool = False, most: int = 5) -> Markup:
    """Ticks left of the box, with faint lines through it; flipped, low values are on top."""
    parts: Iterable[Markup] = [
        part
        for place, text in axis.ticks(most)
        for at in [box.y(1.0 - place if flip else place)]
        for part in (
            segment(box.left, at, box.right, at, "g"),
            label(box.left - 6, at + 4, text, anchor="end", width=box.left - 4),
        )
    ]
    return element("g", join(parts), class_="axis")
