"""What became of a released job: success, failure, or censored.

`resolve` finds the first record after each release that resolves it, and its kind. `judge` turns
kinds into outcomes under the settings and a horizon. What was cut short by a person, a DAG, the end
of the log or the horizon has no outcome: it is counted by kind, never labelled.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.documents.states import REMOVED_BY_DAG, REMOVED_BY_PERSON, removed_by_policy
from jobsight.history.counts import at, preceding_in
from jobsight.history.reasons import over_unique
from jobsight.history.timelines import History, Ints
from jobsight.history.vacates import FAULTS
from jobsight.text import wordlist

__all__ = [
    "PERSONAL_HOLD_CODES",
    "apply_horizon",
    "attributed_to",
    "held_by_hand",
    "judge",
    "removed_by",
    "resolve",
    "usual_horizon",
]

PERSONAL_HOLD_CODES = (1, 15, 16)
"""UserRequest, SubmittedOnHold, SpoolingInput: the user's own hand (``condor_holdcodes.h``)."""

KINDS = wordlist(
    "log_ended exit_zero exit_other exit_unknown held_again held_by_user removed_by_user "
    "removed_by_dag removed_by_policy"
)
"""What can resolve a release; `resolve` gives one of these for each."""

_FAILURES = ("exit_other", "held_again", "removed_by_policy")


def held_by_hand() -> pl.Expr:
    """Whether `hold_code` and `reason` are of a hold by the user, a vacate, or of unknown code.

    Vacate codes are ≥ 1000 or ≤ 0 (``shouldVacateJobBasedOnCodes`` in HTCondor's sources), but for
    the one hold that older schedds write with code 0 (``dollarDollarExpand`` in ``qmgmt.cpp``).
    Vacates by a fault (`jobsight.history.vacates`) are as holds by something else than the user.
    """
    code = pl.col("hold_code")
    ours = (code > 0) & (code < 1000) & ~code.is_in(PERSONAL_HOLD_CODES)
    without_code = (code == 0) & pl.col("reason").str.starts_with("Cannot expand $$")
    return ~(ours | without_code | code.is_in(FAULTS)).fill_null(value=False)


def removed_by(reason: pl.Expr) -> pl.Expr:
    """Who removed a job, from the reason of its 009: ``policy``, ``dag`` or ``user``.

    See `jobsight.documents.states.removed_by_policy`. Without a reason it was a person: policies
    always give one.
    """
    policy = reason.map_batches(
        lambda texts: over_unique(
            texts, lambda text: "policy" if removed_by_policy(text) else None
        ),
        pl.String,
        is_elementwise=True,
    )
    by_dag = reason.str.replace_all(REMOVED_BY_PERSON, "").str.contains(REMOVED_BY_DAG)
    return pl.coalesce(policy, pl.when(by_dag).then(pl.lit("dag")), pl.lit("user"))


def attributed_to(reason: pl.Expr, *, policy: str, dag: str) -> pl.Expr:
    """Whose act a reason describes: ``policy``, ``dag``, ``user`` (by name), null if unknown.

    Args:
        reason: the text of the record.
        policy: pattern of what policies write; a text that ends in *(by user …)* is not a policy's.
        dag: pattern of what DAGMan writes, searched outside the name of the user.
    """
    by_person = reason.str.contains(REMOVED_BY_PERSON)
    return (
        # A policy's expression may name attributes of DAGMan, such as DAGManJobId.
        pl.when(reason.str.contains(policy) & ~by_person)
        .then(pl.lit("policy"))
        .when(reason.str.replace_all(REMOVED_BY_PERSON, "").str.contains(dag))
        .then(pl.lit("dag"))
        .when(by_person)
        .then(pl.lit("user"))
    )


def resolve(history: History, rows: Ints) -> pl.DataFrame:
    """What resolves each release: the first later record of the job that ends or holds it.

    From the rows of n releases (013), each of a job, int64 (n,), as many rows: `row`, `released`
    (clock of the release, µs), `kind` (of `KINDS`), `resolved_row` (null for `log_ended`),
    `resolved_time` (clock of that row; for `log_ended` the last of the log, or that of the record
    where another job took the same id).
    """
    kinds = _kinds_of_rows(history.table)
    kinds[(history.vacated & history.begun) | history.resumed] = _CODE_OF["held_again"]
    # The first of these after each release and of the same job.
    among = np.flatnonzero((kinds != _GOES_ON) & (history.job >= 0))
    backwards = preceding_in(
        history.job[among], len(history) - among, history.job[rows], len(history) - rows
    )
    found = at(among, backwards)
    known = found >= 0
    kind = np.where(known, kinds[found], _CODE_OF["log_ended"])
    log_end = history.log_start[history.log[rows] + 1] - 1
    resolved = history.clock[np.where(known, found, log_end)]
    is_record = known & (kind != _CODE_OF["log_ended"])
    return pl.DataFrame(
        {
            "row": rows,
            "released": history.clock[rows],
            "kind": np.array(KINDS)[kind],
            "resolved_row": pl.Series(found, dtype=pl.Int64).set(pl.Series(~is_record), None),
            "resolved_time": resolved,
        }
    )


_CODE_OF = {kind: number for number, kind in enumerate(KINDS)}
_GOES_ON = -1


def _kinds_of_rows(table: pl.DataFrame) -> NDArray[np.int8]:
    """The kind that each record resolves its job with; −1 where the job goes on: int8 (n,)."""

    def kind(name: str) -> pl.Expr:
        return pl.lit(_CODE_OF[name], pl.Int8)

    result = pl.col("return_value")
    remover = removed_by(pl.col("reason"))
    by_code = {
        EventCode.TERMINATED: pl.when(pl.col("signal").is_not_null() | (result != 0))
        .then(kind("exit_other"))
        .when(result == 0)
        .then(kind("exit_zero"))
        .otherwise(kind("exit_unknown")),
        EventCode.HELD: pl.when(held_by_hand())
        .then(kind("held_by_user"))
        .otherwise(kind("held_again")),
        EventCode.ABORTED: pl.when(remover == "dag")
        .then(kind("removed_by_dag"))
        .when(remover == "policy")
        .then(kind("removed_by_policy"))
        .otherwise(kind("removed_by_user")),
    }
    code = table["code"].to_numpy()
    # A second submission under the same id is another job: what came before is not resolved.
    kinds = np.where(code == EventCode.SUBMIT, _CODE_OF["log_ended"], _GOES_ON).astype(np.int8)
    read = table.select("hold_code", "reason", "return_value", "signal")
    for number, expression in by_code.items():
        rows = np.flatnonzero(code == number)
        kinds[rows] = read[rows].select(expression.alias("kind")).to_series().to_numpy()
    return kinds


def judge(
    resolved: pl.DataFrame,
    *,
    success: Literal["exit_zero", "terminated"] = "exit_zero",
    removed_by_user: Literal["censored", "failure"] = "censored",
) -> pl.DataFrame:
    """Add `outcome` (true, false, null) and `censored` (kind, null where there is an outcome).

    Args:
        resolved: what `resolve` returned.
        success: ``terminated`` counts every 005 as a success, whatever it returned.
        removed_by_user: ``failure`` counts removal by a person as one; never that by a DAG.
    """
    kind = pl.col("kind")
    good: tuple[str, ...] = ("exit_zero",)
    bad: tuple[str, ...] = _FAILURES
    if success == "terminated":
        good = ("exit_zero", "exit_other", "exit_unknown")
        bad = ("held_again", "removed_by_policy")
    if removed_by_user == "failure":
        bad = (*bad, "removed_by_user")
    outcome = (
        pl.when(kind.is_in(good))
        .then(pl.lit(value=True))
        .when(kind.is_in(bad))
        .then(pl.lit(value=False))
    )
    return resolved.with_columns(outcome.alias("outcome")).with_columns(
        pl.when(pl.col("outcome").is_null()).then(kind).alias("censored")
    )


def apply_horizon(judged: pl.DataFrame, horizon: int) -> pl.DataFrame:
    """Censor as ``unresolved`` what was not resolved within `horizon` (µs) of its release.

    Also where the log goes on past the horizon without a record of the job. A longer horizon must
    start from `judge` again.
    """
    span = pl.col("resolved_time") - pl.col("released")
    late = (span > horizon) | ((pl.col("kind") == "log_ended") & (span >= horizon))
    return judged.with_columns(
        pl.when(~late).then(pl.col("outcome")).alias("outcome"),
        pl.when(late).then(pl.lit("unresolved")).otherwise(pl.col("censored")).alias("censored"),
    )


def usual_horizon(judged: pl.DataFrame) -> int | None:
    """The 95th percentile of the times (µs) from release to outcome; None: nothing has one."""
    spans = judged.filter(pl.col("outcome").is_not_null()).select(
        (pl.col("resolved_time") - pl.col("released")).quantile(0.95, "higher")
    )
    value = spans.item()
    return None if value is None else int(value)
