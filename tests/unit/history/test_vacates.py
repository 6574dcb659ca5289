"""Which 004s are as holds, and what is read of them."""

from typing import Any

import numpy as np
import pytest
from tests.support.histories import micros, table

from jobsight.history.labels import held_rows, label_rows
from jobsight.history.outcomes import resolve
from jobsight.history.timelines import History

URL = "osdf:///ospool/ap40/data/in.dat"
INPUT = (
    "Transfer input files failure at execution point slot1_1@g@e1.mwt2.org using protocol osdf. "
    f"Details: Pelican Client Error: timeout ( URL file = {URL} )|"
)
OUTPUT = INPUT.replace("input", "output")


def vacate(at: float, code: int | None = 13, subcode: int | None = -1004, **more: Any) -> Any:
    usual = {"at": at, "code": 4, "vacate_code": code, "vacate_subcode": subcode, "reason": INPUT}
    return usual | more


def start(at: float, detail: int = 2, **more: Any) -> dict[str, Any]:
    return {"at": at, "code": 40, "detail": detail} | more


def history(*rows: dict[str, Any]) -> History:
    return History.from_table(table(rows))


@pytest.mark.parametrize(
    ("code", "subcode", "reason", "stands_for"),
    [
        # condor_holdcodes.h of 25.8.2: FileTransferPluginNoResultReported, …NotFound.
        (13, -1004, INPUT, 13),
        (12, -1001, OUTPUT, 12),
        # Pelican's exit 11, to be tried again.
        (13, 2816, INPUT, 13),
        (34, 102, "Memory usage exceeded", 34),
        (1007, 0, INPUT, 13),
        (1005, 0, OUTPUT, 12),
        (1005, 0, "Error: FILETRANSFER:1:non-zero exit (1) from stash_plugin", 13),
        (1007, 0, "Starter failed", 1007),
        (1021, 0, "Docker has an error", 1021),
        (1024, 0, None, 1024),
        # 23.8 to 24.1 write no code.
        (None, None, INPUT, 13),
        (None, None, OUTPUT, 12),
        (None, None, f"via condor_vacate_job: {INPUT}", None),
        (None, None, None, None),
        (1, 0, "via condor_hold (by user ann)", None),
        (1000, 0, "The job attribute PeriodicVacate expression 'x' evaluated to TRUE", None),
        (1004, 0, "via condor_vacate_job (by user ann)", None),
        (1008, 0, "Job not found at execution machine", None),
        (1014, 0, "The startd was drained", None),
        (1022, 0, "Job vacated by schedd", None),
    ],
)
def test_faults(code: Any, subcode: Any, reason: str | None, stands_for: int | None) -> None:
    found = history(vacate(0, code, subcode, reason=reason))
    assert found.vacated.tolist() == [stands_for is not None]
    row = found.table.row(0, named=True)
    assert (row["hold_code"], row["vacate_code"]) == (stands_for, code)
    assert row["hold_subcode"] == (subcode if stands_for else None)
    assert not found.held.any()
    assert label_rows(found).by_hand.tolist() == [stands_for is None]


def test_a_table_without_vacates_is_a_history() -> None:
    found = History.from_table(table([start(0)]).drop("vacate_code", "vacate_subcode"))
    assert not found.vacated.any() and not found.resumed.any()


@pytest.mark.parametrize(
    ("then", "resumed", "begun"),
    [
        ([start(9), {"at": 10, "code": 1}], [1], [0]),
        ([start(9, detail=1), start(10)], [1], [0]),
        ([{"at": 9, "code": 1}], [1], [0]),
        ([start(9, detail=3), start(9, detail=5)], [], [0]),
        ([start(9, cluster=2)], [], [0]),
        ([{"at": 9, "code": 9}, start(10)], [], [0]),
        # The hold of a running job: its 004, and the 012 of the same codes.
        ([{"at": 1, "code": 12, "hold_code": 13, "hold_subcode": -1004}, start(9)], [], [0]),
        # Held later for something else.
        ([{"at": 5, "code": 12, "hold_code": 26, "hold_subcode": 0}, start(9)], [], [0, 1]),
        ([vacate(9), start(10)], [2], [0, 1]),
    ],
)
def test_what_follows(then: list[dict[str, Any]], resumed: list[int], begun: list[int]) -> None:
    found = history(vacate(1), *then)
    assert np.flatnonzero(found.resumed).tolist() == resumed
    assert np.flatnonzero(found.begun).tolist() == begun


def test_without_codes_only_what_follows_shows_a_vacate() -> None:
    found = history(vacate(1, None, None), start(9))
    assert found.vacated.tolist() == [True, False] and not found.begun.any()
    assert found.resumed.tolist() == [False, True]
    held = history(vacate(1, None, None), {"at": 1, "code": 12, "hold_code": 13}, start(9))
    assert held.begun.tolist() == [False, True, False] and not held.resumed.any()


def test_a_vacate_resolves_a_release_as_a_hold_does() -> None:
    released = {"at": 0, "code": 13}
    found = history(released, start(1), vacate(2), start(3))
    assert resolve(found, np.array([0]))["kind"].to_list() == ["held_again"]
    assert resolve(found, np.array([0]))["resolved_row"].to_list() == [2]
    # Without codes it is known when the job starts again.
    found = history(released, start(1), vacate(2, None, None), start(3))
    assert resolve(found, np.array([0]))["resolved_row"].to_list() == [3]
    found = history(released, start(1), vacate(2, 1004), start(3))
    assert resolve(found, np.array([0]))["kind"].to_list() == ["log_ended"]


def test_who_waits_after_a_vacate() -> None:
    found = history(vacate(1), vacate(2, cluster=2), start(5), vacate(5, 1004, cluster=3))
    assert [found.job[row] for row in held_rows(found, micros(4))[0]] == [0, 1]
    assert [found.job[row] for row in held_rows(found, micros(5))[0]] == [1]
    assert label_rows(found).site.to_list() == ["g", "g", "g", None]
