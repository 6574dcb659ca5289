"""The question `hold` as the contract wants it: released jobs, whether they succeeded, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from jobsight.history import outcomes
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.learning.question import Decisions, Question, Stratum
from jobsight.learning.targets import Binary, Target
from jobsight.models.base import Inputs
from jobsight.models.rules import RuleSet
from jobsight.questions.hold.answering.chances import RULE_SETS
from jobsight.questions.hold.examples.builder import ExampleBuilder, built_again
from jobsight.questions.hold.examples.decisions import CAUSE, hold_decisions
from jobsight.questions.hold.settings import HoldSettings, Scale, resolve_scale
from jobsight.settings import Costs

__all__ = ["HOLD", "Hold"]


class Hold(Question[HoldSettings]):
    """Released as it is, does a held job succeed? See `jobsight.learning.question.Question`.

    A moment is a number of seconds before the release, ``0.0`` the release itself.
    """

    name: ClassVar[str] = "hold"
    title: ClassVar[str] = "It is held: release or remove?"
    settings = HoldSettings
    targets: ClassVar[Mapping[str, Target]] = {"outcome": Binary()}
    models: ClassVar[tuple[str, ...]] = (
        "constant", *(f"rules:{name}" for name in RULE_SETS), "rates", "rates:learning",
        "rates:learning:0", "rates:learning:20", "rates:learning:all", "linear", "boosted", "lstm",
        "mixture",
    )  # fmt: skip
    rule_sets: ClassVar[Mapping[str, RuleSet]] = RULE_SETS
    searched: ClassVar[tuple[str, ...]] = ("seed", "windows", "frames", "lstm")
    same: ClassVar[tuple[str, ...]] = ("as_of", "success", "removed_by_user")
    key: ClassVar[pl.Expr] = pl.format(
        "{} {}.{} {}", pl.col("access_point").fill_null(""), "cluster", "proc", "time"
    )
    job: ClassVar[pl.Expr] = pl.format("{} {}.{}", "access_point", "cluster", "proc")
    causes: ClassVar[tuple[str, ...]] = ("hold_code", "hold_subcode", "masked")
    strata: ClassVar[Mapping[str, Stratum]] = {
        "cause": Stratum(CAUSE, "By cause"),
        "owner": Stratum(pl.col("owner"), "By owner", saved=False),
        "site": Stratum(pl.col("site"), "By site", saved=False),
        "releaser": Stratum(pl.col("releaser"), "By who released"),
        "edited": Stratum(
            pl.col("edited"),
            "By whether it was fixed",
            words={"true": "fixed before its release", "false": "released as it was"},
        ),
    }
    words: ClassVar[tuple[str, str, str]] = ("release", "releases", "succeeded")
    barred: ClassVar[str] = "edited"
    families: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "this job": ("job", "attempt", "held for", "job and cause"),
        "its cluster": ("cluster", "cluster and cause"),
        "its owner": ("owner", "owner and cause"),
        "its cause": ("code", "cause"),
        "its site": ("site", "cause at site"),
        "its transfer origin": ("origin", "origin at site", "likely origin"),
        "the whole pool": ("all",),
        "how long it waits": ("delay", "held for at release"),
    }

    def decisions(self, source: History, settings: HoldSettings) -> Decisions:
        """Every release of a job that its user's own hand did not hold."""
        decisions = hold_decisions(source, settings, label_rows(source))
        table = decisions.table.with_columns(decided="released", teaches=~pl.col("edited"))
        return replace(decisions, table=_named(table))

    def resolved(self, table: pl.DataFrame, encoding: Scale) -> pl.DataFrame:
        """Releases whose outcome came later than the horizon have none."""
        return _named(outcomes.apply_horizon(table, encoding.horizon_micros))

    def encoding(self, rows: pl.DataFrame, settings: HoldSettings) -> Scale:
        """How long things take in this pool."""
        return resolve_scale(rows, settings)

    def encoding_from(self, data: Mapping[str, Any]) -> Scale:
        """See `Scale.to_json`."""
        time_scale, timeframe_len, horizon = (
            float(data[name]) for name in ("time_scale", "timeframe_len", "horizon")
        )
        windows, delays = (tuple(map(float, data[name])) for name in ("windows", "delays"))
        return Scale(time_scale, windows, delays, timeframe_len, horizon)

    def builder(self, source: History, encoding: Scale, settings: HoldSettings) -> ExampleBuilder:
        """Frames, features and causes, as of the cuts."""
        return ExampleBuilder.of(source, settings, encoding)

    def moments(self, encoding: Scale) -> tuple[str, ...]:
        """The release, then the delays that "wait" may propose, in seconds before it."""
        return ("0.0", *map(str, encoding.delays))

    def costs(self, settings: HoldSettings) -> Costs:
        """What a wasted run and a lost job cost."""
        return settings.costs

    def again(
        self, source: History, row: pl.DataFrame, encoding: Scale, settings: HoldSettings,
        moment: str,
    ) -> Inputs | None:  # fmt: skip
        """See `jobsight.questions.hold.examples.builder.built_again`."""
        return built_again(source, row, encoding, settings, float(moment))

    def checks(self) -> Mapping[str, Callable[[Any], Any]]:
        """Was it right to wait?"""
        from jobsight.questions.hold.policyvalue import check_waiting

        return {"waiting": check_waiting}


def _named(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(known_at="resolved_time")


HOLD = Hold()
