"""The part of the report that shows the best run on the test part, next to its baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.format import number
from jobsight.models import is_baseline
from jobsight.reports.drawing import BLACK, BLUE, GREY, draw
from jobsight.reports.page import Markup, element, figure, section, table
from jobsight.reports.scores import HEADINGS
from jobsight.reports.sweep.data import Examination, SweepData
from jobsight.reports.sweep.plotting import BEST
from jobsight.reports.sweep.scales import short
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["gain_words", "tested_part"]


def gain_words(test: Examination) -> str:
    """How the best run's network stands next to the baselines on the test part, in sentences."""
    chosen, words = str(test.report["chosen"]), []
    if test.network in test.models:
        auc = test.models[test.network].get("roc_auc")
        ranked = "" if auc is None else f" has ROC AUC {auc:.2f};"
        words.append(f"On the test part its network{ranked} its loss is {_gain(test)}.")
        if test.best_baseline is not None:
            words.append(f"The best baseline has ROC AUC {test.best_baseline:.2f}.")
    if chosen in test.models and chosen != test.network:
        name = f"{printable(chosen, 40)}{', a baseline,' if is_baseline(chosen) else ''}"
        words.append(f"Of all models {name} was chosen to answer.")
    return " ".join(words) or "Its test report has no numbers of its network."


def _gain(test: Examination) -> str:
    value, low, high = test.interval(test.network, "gain")
    if value is None:
        return "not compared with the baselines'"
    if low is None or high is None:
        return f"{short(abs(value), 2)} {'less' if value < 0 else 'more'} than the best baseline's"
    bounds = f"95 % interval of the difference {short(low, 2)} to {short(high, 2)}"
    if value >= 0:
        return f"no better than the best baseline's ({bounds})"
    sure = "surely better" if high < 0 else "better here, though not surely so"
    return f"{short(-value, 2)} below the best baseline's: {sure} ({bounds})"


def tested_part(data: SweepData) -> Markup | None:
    """All models on the test part: pictures with intervals, then the table."""
    if data.test is None:
        return None
    pictures = [
        figure(picture, words)
        for kind, words in (
            ("auc", "ROC AUC with 95 % intervals; 0.5 is chance."),
            ("gain", "Loss less the best baseline's: left of the line is better."),
        )
        if (picture := _forest_plot(data.test, kind)) is not None
    ]
    return section(
        "The best run on the test part",
        element("div", *pictures, class_="pair") if pictures else None,
        _table(data.test),
        element("p", data.test.reason) if data.test.reason else None,
        lead=_lead(data.test),
    )


def _forest_plot(test: Examination, kind: str) -> Markup | None:
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


def _lead(test: Examination) -> str:
    counts = [
        counted(test.report[key], noun, plural)
        for key, noun, plural in (("batches", "batch", "batches"), ("examples", "decision", None))
        if key in test.report
    ]
    often = (
        "once"
        if test.looks < 2
        else (f"{test.looks} times, each with another network, which flatters the last")
    )
    seen = f" ({', '.join(counts)})" if counts else ""
    return (
        f"The last stretch of the history{seen}, which no run was trained on or chosen by, looked "
        f"at {often}. Marked: the best run's network. Grey: baselines, which need no learning."
    )


def _table(test: Examination) -> Markup:
    models = test.models
    keys = [key for key in HEADINGS if any(key in scores for scores in models.values())]
    rows = [
        [
            f"{printable(name, 60)}{' (answers)' if name == test.report['chosen'] else ''}",
            *(number(scores.get(key)) for key in keys),
        ]
        for name, scores in models.items()
    ]
    return table(
        ["model", *(HEADINGS[key] for key in keys)],
        rows,
        caption="By batch. Higher is better of ROC AUC, precision, F1, accuracy and coverage, "
        "lower of the others.",
        marked=[k for k, name in enumerate(models) if name == test.network],
    )
