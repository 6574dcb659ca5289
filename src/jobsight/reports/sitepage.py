"""The page of ``jobsight report site``: what `site.site_numbers` found, the costliest first."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jobsight.format import UNKNOWN, amount, chance, percent, span
from jobsight.reports.drawing import BLUE, GREEN, GREY, ORANGE, PALETTE, RED, SKY, draw
from jobsight.reports.page import (
    Child,
    Markup,
    card,
    document,
    element,
    figure,
    join,
    report,
    section,
    table,
)
from jobsight.reports.site import IDLE, LIMITS, RECENT_DAYS, SIZES, WENT
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["site_html"]

Row = Mapping[str, Any]

_FIRST, _SHOWN = 8, 15
_LEAST = 0.005
"""What cost a smaller share of all core-hours is not among the first."""
_COLOURS = {"completed": GREEN, "idle": SKY, "failed": RED, "held": PALETTE[3],
            "cancelled": ORANGE, "interrupted": BLUE, "unfinished": GREY}  # fmt: skip
_NAMES = {"completed": "completed", "idle": "completed: CPUs idle"}


def site_html(numbers: Row, inputs: Sequence[str], about: str = "") -> str:
    """The page as text, without links out or requests; all text from the data is escaped."""
    total = numbers["total"]
    by = numbers["by"]
    lists = [_by_table(name, by[name], total) for name in ("partition", "account", "user")]
    went = section(
        "Where core-hours went",
        figure(_weeks_plot(by["week"]), "By the week in which the job ended.", class_="wide"),
        *lists,
        element("details", element("summary", "By week"), _by_table("week", by["week"], total)),
        lead="Cores times hours of all runs. Completed: used, and idle (given, but without CPU "
        "time). Interrupted: runs that were preempted, evicted or requeued.",
    )
    parts = {
        "First": _first_part(numbers),
        "Core-hours": went,
        "Failures": _causes_part(numbers),
        "Holds": _holds_part(numbers),
        "Requests": _requests_part(numbers),
        "Waits": _waits_part(numbers["waits"]),
        "Outliers": _outliers_part(numbers["outliers"]),
        "Where it comes from": _provenance(numbers, inputs),
    }
    return document(f"Jobsight: {_title(numbers)}", [report(_head(numbers, about), parts)])


def _title(numbers: Row) -> str:
    return f"where the core-hours of {', '.join(map(printable, numbers['clusters']))} went"


def _dates(row: Row) -> str:
    """From when to when: days."""
    first, last = (str(row[name] or UNKNOWN)[:10] for name in ("first", "last"))
    return first if first == last else f"{first} to {last}"


def _head(numbers: Row, about: str) -> Markup:
    total = numbers["total"]
    hours = total["core_hours"]
    of_users = f" of {counted(numbers['users'], 'user')}" if numbers["users"] else ""
    lost = sum(total[name] for name in ("failed", "held"))
    words = (
        f"{_dates(numbers)}: {counted(total['jobs'], 'job')}{of_users} had {amount(hours)} "
        f"core-hours. {percent(total['failing'])} of the jobs that completed or failed, failed."
    )
    heading = f"{_share(lost, hours)} of the core-hours went into failures"
    if total["cpu_share"] is not None:
        heading += f", {_share(total['idle'], hours)} into CPUs that stayed idle"
    waits = [row for row in numbers["waits"] if row["by"] == "all"]
    cards = [
        card(amount(lost), "core-hours failed", f"{counted(total['failed_jobs'], 'job')}"),
        card(amount(total["idle"]), "core-hours idle",
             f"completed jobs used {percent(total['cpu_share'])} of their CPU time"),
        card(percent(total["memory_share"]), "of requested memory used",
             f"and {percent(total['time_share'])} of the time limits, by completed jobs"),
    ]  # fmt: skip
    if waits:
        longest = waits[0]
        note = f"half of the jobs; one in ten over {span(longest['p90_s'])}"
        where = f" in {_name(longest['partition'])}" if longest["partition"] else ""
        cards.append(card(span(longest["median_s"]), f"wait{where}", note))
    return element(
        "header",
        element("p", f"Jobsight · {', '.join(numbers['clusters'])}", class_="kicker"),
        element("h1", heading),
        element("p", words, class_="summary"),
        element("div", element("p", about), class_="about") if about else None,
        element("div", *cards, class_="cards"),
    )


def _first_part(numbers: Row) -> Markup:
    """What costs most, of whatever kind, with who, when and what to do."""
    hours = numbers["total"]["core_hours"]
    found = [*_lost(numbers), *_unused(numbers), *_broken(numbers)]
    found = [row for row in found if row[0] >= _LEAST * hours]
    found.sort(key=lambda row: -row[0])
    rows = [[what, who, when, amount(cost), _share(cost, hours), fix]
            for cost, what, who, when, fix in found[:_FIRST]]  # fmt: skip
    return section(
        "What costs most, and what to do",
        table(
            ["what", "who", "when", "core-hours", "of all", "what to do"],
            [*rows, *_slowest(numbers)],
            caption="The costliest first; then the partition where jobs wait longest in all. "
            "A core-hour may count twice: as a cause and as a node's or an idle one.",
            text_columns=(0, 1, 2, 5),
        ),
    )


_Found = tuple[float, Child, str, str, str]
"""Core-hours, what, who, when, and what to do."""


def _lost(numbers: Row) -> list[_Found]:
    """Causes of failures and of holds, and interruptions."""
    found: list[_Found] = []
    for row in (*numbers["causes"], *numbers["holds"]):
        what = f"Held: {row['name']}" if "name" in row else f"Failed: {row['text']}"
        found.append((row["core_hours"], what, _who(row), _when(row), row["fix"] or UNKNOWN))
    interrupted = numbers["total"]["interrupted"]
    fix = "save progress (checkpoints); keep long jobs where nothing preempts them"
    found.append((interrupted, "Runs preempted, evicted or requeued", UNKNOWN, UNKNOWN, fix))
    return found


def _unused(numbers: Row) -> list[_Found]:
    total = numbers["total"]
    most = sorted(numbers["by"]["user"], key=lambda row: -row["idle"])[:3]
    who = ", ".join(f"{_name(row['name'])} ({amount(row['idle'])} h)" for row in most)
    fix = ("ask for the cores that the program uses, or let it use them: threads "
           "(OMP_NUM_THREADS), processes (srun, mpirun)")  # fmt: skip
    what = f"Idle CPUs of completed jobs: they used {percent(total['cpu_share'])} of CPU time"
    return [(total["idle"], what, f"most: {who}" if who else UNKNOWN, _dates(numbers), fix)]


def _broken(numbers: Row) -> list[_Found]:
    fix = "look at its logs and hardware; drain it while this goes on"
    return [
        (row["core_hours"], f"Node {_name(row['name'])} fails {percent(row['rate'])} of its runs; "
         f"of the same users elsewhere {percent(row['expected'])} fail", UNKNOWN, UNKNOWN, fix)
        for row in numbers["outliers"]["nodes_failing"]["named"]
    ]  # fmt: skip


def _slowest(numbers: Row) -> list[list[Child]]:
    """The partition where most hours are waited; and the class of requests that waits least."""
    waits = numbers["waits"]
    slow = next((row for row in waits if row["by"] == "all"), None)
    if slow is None or not slow["median_s"]:
        return []
    same = [row for row in waits
            if row["partition"] == slow["partition"] and row["by"] != "all"]  # fmt: skip
    quick = min(same, key=lambda row: row["median_s"], default=slow)
    fix = UNKNOWN
    if quick["median_s"] <= slow["median_s"] / 2:
        fix = (
            f"smaller requests: half of those of {quick['of']} wait under {span(quick['median_s'])}"
        )
    what = f"Waits in {_name(slow['partition'])}: half over {span(slow['median_s'])}, one in ten over {span(slow['p90_s'])}"
    who = f"{counted(slow['jobs'], 'job')}, {amount(slow['hours'])} h waited"
    return [[what, who, _dates(numbers), UNKNOWN, UNKNOWN, fix]]


def _who(row: Row) -> str:
    """How many jobs, of whom, and who lost most."""
    words = counted(row["jobs"], "job")
    if not row["top_users"]:
        return words
    names = ", ".join(f"{_name(user['name'])} ({amount(user['core_hours'])} h)"
                      for user in row["top_users"])  # fmt: skip
    return f"{words} of {counted(row['users'], 'user')}; most: {names}"


def _when(row: Row) -> str:
    return f"{_dates(row)}; {row['recent']:,} in the last {RECENT_DAYS} days"


def _share(part: float, whole: float) -> str:
    return percent(part / whole if whole else None)


def _name(value: Any) -> str:
    return "not recorded" if value is None else printable(value, 40)


def _by_table(name: str, rows: Sequence[Row], total: Row) -> Markup | None:
    """Core-hours and shares by a column; nothing where the data have none."""
    if not rows:
        return None
    went = [name for name in WENT if total[name] > 0]
    gpus = total["gpu_hours"] > 0
    headings = [name, "jobs", "core-hours", "of all", *went, "idle", *(["GPU-hours"] * gpus),
                "failing", "CPU used", "memory used", "time used", "median wait"]  # fmt: skip
    most = len(rows) if name == "week" else _SHOWN
    cells = [
        [_name(row["name"]), f"{row['jobs']:,}", amount(row["core_hours"]), percent(row["share"]),
         *(_share(row[one], row["core_hours"]) for one in went),
         _share(row["idle"], row["core_hours"]), *([amount(row["gpu_hours"])] * gpus),
         *(percent(row[one]) for one in ("failing", "cpu_share", "memory_share", "time_share")),
         span(row["median_wait_s"])]
        for row in rows[:most]
    ]  # fmt: skip
    more = f" {len(rows) - most:,} more are not shown." if len(rows) > most else ""
    caption = (f"By {name}. Shares of its core-hours by what became of them, and idle ones; failing: "
               f"of jobs; used: of what completed jobs asked for.{more}")  # fmt: skip
    return table(headings, cells, caption=caption)


def _causes_part(numbers: Row) -> Markup | None:
    return _caused("Why jobs failed", numbers["causes"], numbers, lambda row: row["text"])


def _holds_part(numbers: Row) -> Markup | None:
    return _caused(
        "Why jobs were held", numbers["holds"], numbers,
        lambda row: f"{row['name']}: {row['example'] or UNKNOWN}",
    )  # fmt: skip


def _caused(title: str, causes: Sequence[Row], numbers: Row, words: Any) -> Markup | None:
    if not causes:
        return None
    held = any(row["held_h"] for row in causes)
    rows = [
        [printable(words(row), 240), _who(row), _when(row),
         *([amount(row["held_h"])] * held), amount(row["core_hours"]),
         _share(row["core_hours"], numbers["total"]["core_hours"]), row["fix"] or UNKNOWN]
        for row in causes[:_SHOWN]
    ]  # fmt: skip
    more = f" {len(causes) - _SHOWN:,} more are not shown." if len(causes) > _SHOWN else ""
    headings = ["cause", "who", "when", *(["hours held"] * held), "core-hours", "of all",
                "what to do"]  # fmt: skip
    shown = table(headings, rows, caption=f"By what the scheduler records, the costliest first.{more}",
                  text_columns=(0, 1, 2, len(headings) - 1))  # fmt: skip
    return section(title, shown)


def _requests_part(numbers: Row) -> Markup | None:
    total = numbers["total"]
    units = {"cpu": ("CPU", "core-hours", "ask for the cores that the program uses"),
             "memory": ("memory", "GB-hours", "ask for the peak of like jobs and some room"),
             "time": ("time limit", "hours", "ask for the longest run and some room: shorter jobs "
                      "fit into gaps and start sooner")}  # fmt: skip
    rows = [
        [name, f"{amount(total[f'{key}_of'])} {unit}", f"{amount(total[f'{key}_used'])} {unit}",
         percent(total[f"{key}_share"]), fix]
        for key, (name, unit, fix) in units.items()
        if total[f"{key}_share"] is not None
    ]  # fmt: skip
    shown = table(["", "asked", "used", "share", "what to do"], rows, text_columns=(0, 4),
                  caption="Completed jobs; memory at its peak for as long as the job ran, of jobs "
                  "of one node.")  # fmt: skip
    return section("Requests against use", shown) if rows else None


def _waits_part(waits: Sequence[Row]) -> Markup | None:
    """Median and 90 % of waits, by partition and by what was asked."""
    if not waits:
        return None
    known = {(row["partition"], row["by"], row["of"]): row for row in waits}
    partitions = [row["partition"] for row in waits if row["by"] == "all"][:_SHOWN]

    def cell(partition: str, by: str, of: str) -> Child:
        row = known.get((partition, by, of))
        if row is None:
            return UNKNOWN
        small = element("span", f"9 in 10: {span(row['p90_s'])}", class_="small")
        return join([span(row["median_s"]), element("br"), small])

    tables = []
    for by, classes, words in (("cores", SIZES, "cores asked for"),
                               ("limit", LIMITS, "time asked for, up to")):  # fmt: skip
        rows = [
            [_name(one), f"{known[one, 'all', 'all']['jobs']:,}", cell(one, "all", "all"),
             *(cell(one, by, of) for of in classes)]
            for one in partitions
        ]  # fmt: skip
        tables.append(table(["partition", "jobs", "all", *classes], rows,
                            caption=f"Median wait by {words}."))  # fmt: skip
    waiting = sum(row["waiting"] for row in waits if row["by"] == "all")
    lead = "From when a job could start (eligible, else submitted) to its first start."
    if waiting:
        lead += f" {counted(waiting, 'job')} still waited at the end, and do not count."
    return section("How long jobs waited", *tables, lead=lead)


def _outliers_part(outliers: Mapping[str, Row]) -> Markup | None:
    idle = percent(IDLE)
    titles = {
        "users_failing": ("Users whose jobs fail more often", "user", "failing",
                          "than the jobs of others in the same partitions"),
        "users_idle": (f"Users whose jobs more often use under {idle} of their CPU time", "user",
                       "idle", "than those of others in the same partitions, of 10 minutes or more"),
        "nodes_failing": ("Nodes on which runs fail more often", "node", "failing",
                          "than runs of the same users on other nodes"),
    }  # fmt: skip
    tables: list[Markup] = []
    for key, (title, what, happened, than) in titles.items():
        found = outliers[key]["named"]
        rows = [
            [_name(row["name"]), f"{row['jobs']:,.0f}",
             chance(row["rate"], row["low"], row["high"]), percent(row["expected"]),
             amount(row["core_hours"]), *([row["cause"] or UNKNOWN] * (key == "users_failing"))]
            for row in found[:_SHOWN]
        ]  # fmt: skip
        cost = "core-hours idle" if key == "users_idle" else "core-hours lost"
        headings = [what, "jobs", happened, "others", cost,
                    *(["most lost as"] * (key == "users_failing"))]  # fmt: skip
        caption = (f"{title} {than}: {len(found):,} of {outliers[key]['compared']:,} compared, those "
                   "first that cost most.")  # fmt: skip
        texts = (0, 5) if key == "users_failing" else (0,)
        if outliers[key]["compared"]:
            tables.append(table(headings, rows, caption=caption, text_columns=texts))
    lead = ("Beyond chance: of those named at most one in twenty is expected to be there by chance "
            "(Benjamini and Hochberg 1995), jobs of one user and day counted as sharing their fate. "
            "In brackets the interval, at the level that keeps that share (Benjamini and Yekutieli "
            "2005).")  # fmt: skip
    return section("Who and what stands out", *tables, lead=lead) if tables else None


def _provenance(numbers: Row, inputs: Sequence[str]) -> Markup:
    total = numbers["total"]
    rows = [
        ["Read", ", ".join(printable(name, 200) for name in inputs)],
        ["From, to", f"{numbers['first']} to {numbers['last']}"],
        ["Jobs", f"{total['jobs']:,}"],
    ]
    if numbers["cores_assumed"]:
        rows.append(["Cores unknown", f"of {counted(numbers['cores_assumed'], 'job')}: one each"])
    return section(
        "Where it comes from", table(["", ""], rows, caption="What was read.", text_columns=2)
    )


def _weeks_plot(weeks: Sequence[Row]) -> Markup:
    """Core-hours by week, stacked by what became of them."""
    starts = [dt.date.fromisoformat(row["name"]) for row in weeks]
    shares = {"completed": [row["completed"] - row["idle"] for row in weeks],
              "idle": [row["idle"] for row in weeks],
              **{name: [row[name] for row in weeks] for name in WENT[1:]}}  # fmt: skip
    shown = {name: np.array(values) for name, values in shares.items() if any(values)}

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        below = np.zeros(len(weeks))
        for name, values in shown.items():
            axes.bar(starts, values, width=6.2, bottom=below, color=_COLOURS[name], align="edge",
                     label=_NAMES.get(name, name))  # fmt: skip
            below = below + values
        axes.set(ylabel="core-hours a week", ylim=(0, None))
        axes.grid(visible=False, axis="x")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=True)

    totals = ", ".join(f"{_NAMES.get(name, name)} {amount(v.sum())}" for name, v in shown.items())
    return draw("weeks", 11.2, 3.4, f"Core-hours by week: {totals}.", paint)
