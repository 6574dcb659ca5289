"""The best run's model next to its baselines on the test part: values with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.models import is_baseline
from jobsight.reports.drawing import BLACK, BLUE, GREY, draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.data import Examination
from jobsight.reports.sweep.plotting import BEST
from jobsight.reports.sweep.scales import short
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["forest_plot"]


def forest_plot(test: Examination, kind: str) -> Markup | None:
    """Values with intervals, one row per model; None where no model has any.

    Args:
        test: of the best run, whose network stands out.
        kind: of the values, see `Examination.interval`.
    """
    rows = [(name, value, low, high) for name in test.models
            for value, low, high in [test.interval(name, kind)] if value is not None]  # fmt: skip
    if not rows:
        return None
    title = "loss less the best baseline's" if kind == "gain" else "ROC AUC"

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvline(0.0 if kind == "gain" else 0.5, color=GREY, lw=1)
        for place, (name, value, low, high) in enumerate(rows):
            colour = GREY if is_baseline(name) else BLUE
            colour = BEST if name == test.network else colour
            ends = [value if low is None else low, value if high is None else high]
            axes.plot(ends, [place, place], color=colour, lw=2)
            axes.plot(value, place, "o", color=colour, ms=7)
            axes.text(1.02, place, short(value, 3), va="center", color=BLACK,
                      transform=axes.get_yaxis_transform())  # fmt: skip
        axes.set_yticks(range(len(rows)), [printable(row[0], 26) for row in rows])
        for label, row in zip(axes.get_yticklabels(), rows, strict=True):
            label.set_fontweight("bold" if row[0] == test.network else "normal")
        axes.grid(visible=False, axis="y")
        axes.invert_yaxis()
        axes.set_xlabel(f"{title} ({'← better' if kind == 'gain' else 'better →'})")

    listed = ", ".join(f"{name} {short(value, 3)}" for name, value, *_ in rows)
    words = f"{title} on the test part: {listed}. Lines are 95 % intervals."
    return draw(f"forest {kind}", 5.2, 0.9 + 0.27 * len(rows), words, paint)
