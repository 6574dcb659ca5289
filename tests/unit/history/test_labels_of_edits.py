import json
from typing import Any

import numpy as np
import pytest
from tests.support import histories, hold_models

from jobsight.history.labels import edited_releases, label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import hold_decisions
from jobsight.questions.hold.examples.evidence import gather_evidence
from jobsight.questions.hold.settings import HoldSettings, Scale

ASKS: dict[str, Any] = {"RequestMemory": 128, "Iwd": "/home/ann", "JobStatus": 5, "NumHolds": 1,
                        "HoldReason": "x", "EventTime": "a", "MyType": "JobHeldEvent"}  # fmt: skip


def history_of(after: dict[str, Any] | None, *more: dict[str, Any]) -> History:
    """One job, held and released, with an ad at both if `after` is given."""
    rows = hold_models.released(10, 1, good=True)
    for row in rows:
        if after is not None and row["code"] in (12, 13):
            row["attributes"] = json.dumps(ASKS if row["code"] == 12 else ASKS | after)
    return History.from_table(histories.table(sorted([*rows, *more], key=lambda row: row["at"])))


def edited(history: History, *, exact: bool) -> bool:
    holds, rows = (np.flatnonzero(history.code == code) for code in (12, 13))
    return bool(edited_releases(history, holds, rows, exact=np.full(1, exact))[0])


@pytest.mark.parametrize(
    ("after", "in_full", "in_short"),
    [
        (None, False, False),
        ({}, False, False),
        ({"JobStatus": 1, "NumHolds": 2, "Reason": "y", "EventTime": "b", "MyType": "x"},
         False, False),
        ({"RequestMemory": 256}, True, True),
        ({"RequestGPUs": 1}, True, True),
        ({"RequestMemory_RAW": 256}, False, False),
        ({"Iwd": "/home/bob"}, True, False),
    ],
)  # fmt: skip
def test_ads_are_compared_in_full_or_by_requests(
    after: dict[str, Any] | None, in_full: bool, in_short: bool
) -> None:
    history = history_of(after)
    assert edited(history, exact=True) == in_full
    assert edited(history, exact=False) == in_short


@pytest.mark.parametrize("text", [None, "{", "[1]", "3"])
def test_ads_that_cannot_be_compared_show_no_edit(text: str | None) -> None:
    rows = hold_models.released(10, 1, good=True)
    for row in rows:
        if row["code"] in (12, 13):
            row["attributes"] = text if row["code"] == 12 else '{"RequestMemory": 1}'
    assert not edited(History.from_table(histories.table(rows)), exact=True)


def test_requests_with_commas_and_in_another_order_are_told_apart() -> None:
    rows = hold_models.released(10, 1, good=True)
    texts = (
        '{"RequestMemory": "f(a, \\"b\\", 1)", "RequestCpus": 1}',
        '{"RequestCpus": 1, "RequestMemory": "f(a, \\"b\\", 2)"}',
    )
    for row in rows:
        if row["code"] in (12, 13):
            row["attributes"] = texts[row["code"] - 12]
    assert edited(History.from_table(histories.table(rows)), exact=False)


def test_a_changed_attribute_between_hold_and_release_is_an_edit() -> None:
    for at, is_edit in ((11, True), (9, False)):
        change = {"at": at, "cluster": 1, "proc": 0, "code": 33}
        assert edited(history_of(None, change), exact=True) == is_edit


def test_edited_releases_do_not_settle_how_releases_end() -> None:
    settings = HoldSettings()
    for after, settled in (({}, 1), ({"RequestMemory": 256}, 0)):
        history = history_of(after)
        evidence = gather_evidence(
            history,
            label_rows(history),
            hold_decisions(history, settings, label_rows(history)).table,
        )
        assert len(evidence.good.rows) == settled


def test_no_rate_counts_a_release_that_was_edited() -> None:
    settings = HoldSettings()
    columns = []
    for after in ({}, {"RequestMemory": 256}):
        first = hold_models.released(10, 1, good=True)
        for row in first:
            if row["code"] in (12, 13):
                row["attributes"] = json.dumps(ASKS if row["code"] == 12 else ASKS | after)
        rows = first + hold_models.released(100, 2, good=True)
        history = History.from_table(histories.table(rows))
        table = hold_decisions(history, settings, label_rows(history)).table
        builder = ExampleBuilder.of(
            history, settings, Scale(30.0, (30.0, 120.0, 480.0), (), 5.0, 300.0), frames=False
        )
        inputs = builder.inputs(table)
        columns.append(dict(zip(inputs.names, inputs.features[1].tolist(), strict=True)))
    as_it_was, mended = columns
    assert as_it_was["cause: rate"] > 0.5 and as_it_was["cause: settled"] > 0
    assert mended["cause: rate"] == 0.5 and mended["cause: settled"] == 0
    assert np.isnan(mended["cause: since last good"])
