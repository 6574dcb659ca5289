"""``jobsight review QUESTION``: were stored predictions right, and is a model worse than tested?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    QuestionArgument,
    StoreOption,
    load_settings,
)
from jobsight.cli.output import print_json, say
from jobsight.cli.reading import read_for
from jobsight.cli.terminal import paint, table
from jobsight.format import UNKNOWN, number, percent
from jobsight.learning.reading import programs, stored
from jobsight.learning.review import Confused, Week, confusion, predictions_of, reviewed
from jobsight.questions import question_named
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["review"]


def review(
    question: QuestionArgument,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Were the stored predictions right? By week and by model, or counted by class."""
    asked = question_named(question)
    settings = load_settings(config, {"store": store}, asked)
    found: Any
    print_: Callable[[list[Any]], None]
    if asked.reads == "programs":
        kind, print_ = "confusion", _print_confusion
        source, _ = programs(["store:"], settings, lambda _done, _total: None)
        decisions = asked.decisions(source, settings.of(asked.name, asked.settings)).table
        with stored("store:", settings) as (_, _, documents):
            found = confusion(asked, documents, decisions)
    else:
        kind, print_ = "weeks", _print_weeks
        with stored("store:", settings) as (_, _, documents):
            kept = predictions_of(documents, asked)
        history = read_for(asked, ["store:"], settings)[0] if len(kept) else None
        found = [] if history is None else reviewed(asked, history, kept, settings)
    if as_json:
        print_json({"question": asked.name, kind: [one.to_json() for one in found]})
    elif not found:
        say(f"no answer of {asked.name} is in the store; `jobsight {asked.name} --save` keeps them")
    else:
        print_(found)


def _print_confusion(found: list[Confused]) -> None:
    headings = ["model", "predicted", "observed", "source", "jobs", "right"]
    rows = [
        [printable(one.model, 60), one.predicted, " or ".join(one.observed) or UNKNOWN,
         one.source or UNKNOWN, f"{one.jobs:,}",
         {True: "yes", False: paint("no", "31"), None: UNKNOWN}[one.right]]
        for one in found
    ]  # fmt: skip
    say(table(headings, rows, ["source"], left=["predicted", "observed", "source", "right"]))


def _print_weeks(weeks: list[Week]) -> None:
    headings = ["week of", "model", "answers", "known", "predicted", "observed", "log loss",
                "95 %", "in its test", "Brier", "ROC AUC", ""]  # fmt: skip
    spare = ["Brier", "ROC AUC", "95 %", "answers", "known", "in its test"]
    rows = [
        [
            week.week or "all",
            printable(week.model, 60),
            f"{week.predictions:,}",
            f"{week.known:,}",
            percent(week.predicted),
            percent(week.observed),
            number(week.log_loss),
            UNKNOWN if week.interval is None else "{:.2f}–{:.2f}".format(*week.interval[:2]),
            number(week.promised),
            number(week.brier),
            number(week.roc_auc),
            paint("worse", "31") if week.worse else "",
        ]
        for week in weeks
    ]
    say(table(headings, rows, spare, left=["week of", "model", ""]))
    worse = [one for one in weeks if one.worse and one.week is not None]
    if worse:
        say("")
        say(
            f"in {counted(len(worse), 'week')} the log loss is above that of the model's test: "
            "train again, and compare (`jobsight models compare`)"
        )
