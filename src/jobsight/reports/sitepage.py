"""The page of ``jobsight report site``: what `site.site_numbers` found, the costliest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jobsight.format import UNKNOWN, amount, chance, percent, span
from jobsight.reports.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    RED,
    SKY,
    clock_axis,
    days,
    draw,
)
from jobsight.reports.page import Markup, card, document, element, figure, join, report, section
from jobsight.reports.page import table as table_of
from jobsight.reports.site import IDLE, LIMITS, RECENT_DAYS, SIZES, WENT
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["site_html"]

Row = Mapping[str, Any]

_FIRST, _MOST, _SHOWN, _WORDS = 8, 30, 15, 240
"""Rows of the first table, with its details, and of all others; characters of a cell."""
_COLOURS = {"completed": GREEN, "completed, idle": SKY, "failed": RED, "held": PALETTE[3],
            "cancelled": ORANGE, "interrupted": BLUE, "unfinished": GREY}  # fmt: skip


def site_html(numbers: Row, inputs: Sequence[str], about: str = "") -> str:
    """The page as text, without links out or requests; all text from the data is escaped."""
    by, outliers = numbers["by"], numbers["outliers"]
    went = section(
        "Where core-hours went, and what was used of requests",
        figure(_weeks_plot(by["week"]), "By the week of the last end.", class_="wide"),
        *(_by_table(name, by[name], numbers["total"]) for name in ("partition", "account", "user")),
        element("details", element("summary", "By week"),
                _by_table("week", by["week"], numbers["total"])),
        lead="Cores times hours of all runs. Idle: given to jobs that completed, without CPU time. "
        "Interrupted: runs that were preempted, evicted or requeued. CPU, memory, time: what "
        "completed jobs used of what they asked for (memory: the peak, of jobs of one node).",
    )  # fmt: skip
    parts = {
        "What to do": _first_part(numbers),
        "Core-hours and requests": went,
        "Waits": _waits_part(numbers["waits"]),
        "Outliers": _outliers_part(outliers),
    }
    title = f"Jobsight: where the core-hours of {', '.join(numbers['clusters'])} went"
    return document(title, [report(_head(numbers, inputs, about), parts)])


def _head(numbers: Row, inputs: Sequence[str], about: str) -> Markup:
    total, waits = numbers["total"], [row for row in numbers["waits"] if row["by"] == "all"]
    hours, lost = total["core_hours"], total["failed"] + total["held"]
    of_users = f" of {counted(numbers['users'], 'user')}" if numbers["users"] else ""
    words = (
        f"{_dates(numbers)}: {counted(total['jobs'], 'job')}{of_users} had {amount(hours)} "
        f"core-hours. {percent(total['failing'])} of the jobs that completed or failed, failed."
    )
    if numbers["cores_assumed"]:
        words += f" {counted(numbers['cores_assumed'], 'job')} without known cores count as one."
    heading = f"{_share(lost, hours)} of the core-hours went into failures"
    cards = [card(amount(lost), "core-hours failed", counted(total["failed_jobs"], "job"))]
    if total["cpu_share"] is not None:
        heading += f", {_share(total['idle'], hours)} into idle CPUs"
        used = f"completed jobs used {percent(total['cpu_share'])} of their CPU time"
        cards.append(card(amount(total["idle"]), "core-hours idle", used))
    if total["memory_share"] is not None:
        limits = f", and {percent(total['time_share'])} of time limits" if total["time_of"] else ""
        used = f"by completed jobs{limits}"
        cards.append(card(percent(total["memory_share"]), "of requested memory used", used))
    if waits:
        note = f"half of the jobs over it, one in ten over {span(waits[0]['p90_s'])}"
        place = waits[0]["partition"]
        where = f"wait{f' in {_name(place)}' if place else ''}"
        cards.append(card(span(waits[0]["median_s"]), where, note))
    return element(
        "header",
        element("p", f"Jobsight · {', '.join(numbers['clusters'])}", class_="kicker"),
        element("h1", heading),
        element("p", words, class_="summary"),
        element("div", element("p", about), class_="about") if about else None,
        element("div", *cards, class_="cards"),
        element("p", f"Read: {', '.join(inputs)}.", class_="small"),
    )


def _first_part(numbers: Row) -> Markup:
    """What costs most, of whatever kind, with who, when and what to do."""
    total, nodes = numbers["total"], numbers["outliers"]["nodes_failing"]["named"]
    most = sorted(numbers["by"]["user"], key=lambda row: -row["idle"])[:3]
    idle = ", ".join(f"{_name(row['name'])} ({amount(row['idle'])} h)" for row in most)
    causes = [(row["core_hours"], printable(row["text"], _WORDS), _who(row), _when(row), row["fix"])
              for row in numbers["causes"]]  # fmt: skip
    others = [
        (total["idle"], f"CPUs idle in completed jobs: {percent(total['cpu_share'])} of their CPU "
         "time was used", idle and f"most: {idle}", _dates(numbers), "ask for the cores that the "
         "program uses, or let it use them: threads (OMP_NUM_THREADS), processes (srun, mpirun)"),
        (total["interrupted"], "runs preempted, evicted or requeued", None, _dates(numbers),
         "save progress (checkpoints); keep long jobs where nothing preempts them"),
        *((row["core_hours"], f"node {_name(row['name'])} fails {percent(row['rate'])} of its "
           f"runs, others {percent(row['expected'])} of those of the same users",
           f"{row['jobs']:,.0f} runs", _dates(numbers),
           "look at its logs and hardware, and drain it while this goes on") for row in nodes),
    ]  # fmt: skip
    found = [*causes, *(row for row in others if row[0] > 0)]
    found.sort(key=lambda row: -row[0])
    rows = [[what, who or UNKNOWN, when, amount(cost), _share(cost, total["core_hours"]),
             fix or UNKNOWN] for cost, what, who, when, fix in found[:_MOST]]  # fmt: skip
    headings, texts = ["what", "who", "when", "core-hours", "of all", "what to do"], (0, 1, 2, 5)
    rest = f"The next {len(rows) - _FIRST} of {len(found) - _FIRST}"
    more = table_of(headings, rows[_FIRST:], caption=f"{rest}.", text_columns=texts)
    return section(
        "What costs most, and what to do",
        table_of(headings, rows[:_FIRST], text_columns=texts,
                 caption="Why jobs failed or were held, what stayed idle, which nodes fail more "
                 "often. A core-hour may count twice: for a cause, and for a node."),
        element("details", element("summary", rest), more) if len(rows) > _FIRST else None,
    )  # fmt: skip


def _by_table(name: str, rows: Sequence[Row], total: Row) -> Markup | None:
    """Core-hours and shares by a column; None where the data have none."""
    lost = [one for one in (*WENT[1:], "idle") if total[one] > 0]
    gpus = ["gpu_hours"] if total["gpu_hours"] > 0 else []
    headings = [name, "jobs", "core-hours", "of all", *lost, *(["GPU-hours"] * len(gpus)),
                "jobs failing", "CPU", "memory", "time"]  # fmt: skip
    cells = [
        [_name(row["name"]), f"{row['jobs']:,}", amount(row["core_hours"]), percent(row["share"]),
         *(_share(row[one], row["core_hours"]) for one in lost),
         *(amount(row[one]) for one in gpus),
         *(percent(row[one]) for one in ("failing", "cpu_share", "memory_share", "time_share"))]
        for row in rows[: None if name == "week" else _SHOWN]
    ]  # fmt: skip
    return _table(headings, cells, len(rows), f"By {name}.") if rows else None


def _waits_part(waits: Sequence[Row]) -> Markup | None:
    """Median and 90 % of waits, by partition and by what was asked."""
    known = {(row["partition"], row["by"], row["of"]): row for row in waits}
    present = {(by, of) for _, by, of in known}
    classes = [(by, of) for by, (_, names) in (("cores", SIZES), ("limit", LIMITS))
               for of in names if (by, of) in present]  # fmt: skip
    rows = []
    for row in (row for row in waits if row["by"] == "all"):
        cells = [row, *(known.get((row["partition"], by, of)) for by, of in classes)]
        rows.append([_name(row["partition"]), f"{row['jobs']:,}", f"{row['waiting']:,}",
                     *(None if cell is None else _two_lines(cell) for cell in cells)])  # fmt: skip
    headings = ["partition", "jobs", "still waiting", "all jobs", *(of for _, of in classes)]
    shown = _table(headings, rows[:_SHOWN], len(rows),
                   "Half of the jobs waited longer than the first figure, one in ten longer than "
                   "the second; by cores and time limit asked for.")  # fmt: skip
    lead = "From when a job could start (eligible, else submitted) to its first start."
    return section("How long jobs waited", shown, lead=lead) if rows else None


def _two_lines(wait: Row) -> Markup:
    tenth = element("span", span(wait["p90_s"]), class_="small")
    return join([span(wait["median_s"]), element("br"), tenth])


_OUTLIERS = {
    "users_failing": ("user", "jobs failing", "jobs of others in the same partitions"),
    "users_idle": ("user", f"under {percent(IDLE)} of CPU used", "such jobs of others, of at least "
                   "10 minutes, in the same partitions"),
    "nodes_failing": ("node", "runs failing", "runs of the same users on other nodes"),
}  # fmt: skip


def _outliers_part(outliers: Mapping[str, Row]) -> Markup | None:
    """Users and nodes above chance, with intervals; None: too few of them to be compared."""
    tables = []
    for key, (what, happened, others) in _OUTLIERS.items():
        named, compared = outliers[key]["named"], outliers[key]["compared"]
        rows = [
            [_name(row["name"]), f"{row['jobs']:,.0f}",
             chance(row["rate"], row["low"], row["high"]), percent(row["expected"]),
             amount(row["core_hours"]), *([row["cause"]] if row["cause"] else [])]
            for row in named[:_SHOWN]
        ]  # fmt: skip
        words = f"Compared with {others}: {len(named):,} of {compared:,} stand out."
        headings = [what, "jobs", happened, "others", "core-hours beyond", "most lost as"]
        headings = headings[: len(rows[0])] if rows else headings
        if named:
            tables.append(_table(headings, rows, len(named), words, text_columns=(0, 5)))
        elif compared:
            tables.append(element("p", words))
    lead = (
        "Beyond chance: of those named one in twenty at most is expected to be there by chance "
        "(Benjamini and Hochberg 1995), where jobs of one user and day share their fate. Intervals "
        "keep that share (Benjamini and Yekutieli 2005). Core-hours beyond: those more than at the "
        "rate of the others."
    )
    return section("Who and what stands out", *tables, lead=lead) if tables else None


def _table(headings: Sequence[str], rows: Any, of: int, words: str, **more: Any) -> Markup:
    """A table whose caption says how many rows are not shown."""
    rest = f" {of - len(rows):,} more are not shown." if of > len(rows) else ""
    return table_of(headings, rows, caption=f"{words}{rest}", **more)


def _who(row: Row) -> str:
    """How many jobs, of whom, and who lost most."""
    names = (f"{_name(user['name'])} ({amount(user['core_hours'])} h)" for user in row["top_users"])
    of_users = f" of {counted(row['users'], 'user')}; most: " if row["top_users"] else ""
    held = f"; held for {amount(row['held_h'])} h" if row["held_h"] else ""
    return f"{counted(row['jobs'], 'job')}{of_users}{', '.join(names)}{held}"


def _dates(row: Row) -> str:
    first, last = (str(row[name] or UNKNOWN)[:10] for name in ("first", "last"))
    return first if first == last else f"{first} to {last}"


def _when(row: Row) -> str:
    lately = f"; {row['recent']:,} in the last {RECENT_DAYS} days"
    return f"{_dates(row)}{lately if row['recent'] < row['jobs'] else ''}"


def _share(part: float, whole: float) -> str:
    return percent(part / whole if whole else None)


def _name(value: Any) -> str:
    return "not recorded" if value is None else printable(value, 40)


def _weeks_plot(weeks: Sequence[Row]) -> Markup:
    """Core-hours by week, stacked by what became of them."""
    starts = days(np.array([row["name"] for row in weeks], "datetime64[us]").astype(np.int64))
    parts = {"completed": [row["completed"] - row["idle"] for row in weeks],
             "completed, idle": [row["idle"] for row in weeks],
             **{name: [row[name] for row in weeks] for name in WENT[1:]}}  # fmt: skip
    shown = {name: np.array(values) for name, values in parts.items() if any(values)}

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        below = np.zeros(len(weeks))
        for name, values in shown.items():
            axes.bar(starts, values, 6.2, below, color=_COLOURS[name], align="edge", label=name)
            below = below + values
        axes.set(ylabel="core-hours a week", ylim=(0, None))
        axes.yaxis.set_major_formatter(lambda value, _: amount(value))
        axes.grid(visible=False, axis="x")
        clock_axis(axes)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=True)

    totals = ", ".join(f"{name} {amount(values.sum())}" for name, values in shown.items())
    return draw("weeks", 11.2, 3.4, f"Core-hours by week: {totals}.", paint)
