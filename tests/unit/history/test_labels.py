import json
from typing import Any

from tests.support.histories import table

from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import History


def labels(*rows: dict[str, Any]) -> RowLabels:
    return label_rows(History.from_table(table({"at": 0} | row for row in rows)))


def test_causes_are_those_of_holds_alone_and_equal_where_masked_alike() -> None:
    found = labels(
        {"code": 12, "hold_code": 13, "hold_subcode": 1, "reason": "lost /a/1"},
        {"code": 12, "hold_code": 13, "hold_subcode": 1, "reason": "lost /b/2", "cluster": 2},
        {"code": 12, "hold_code": 13, "hold_subcode": 2, "reason": "lost /b/2", "cluster": 3},
        {"code": 12, "hold_code": None, "reason": None, "cluster": 4},
        {"code": 13, "reason": "lost /a/1"},
    )
    assert found.masked.to_list() == ["lost <path>"] * 3 + ["", None]
    assert found.cause[0] == found.cause[1]
    assert len(set(found.cause.tolist())) == 4
    assert found.cause[4] == -1


def test_a_site_is_carried_on_until_the_next_start() -> None:
    found = labels(
        {"code": 0},
        {"code": 1, "slot": "slot1@mwt2@h"},
        {"code": 12, "hold_code": 3, "reason": "exit 1"},
        {"code": 13, "reason": "Error from slot1@ucsd@h: these words are not about a place"},
        {"code": 1, "slot": "slot1@h", "host": "<10.0.0.1:9618>"},
        {"code": 12, "hold_code": 3, "reason": "Error from slot1@purdue@h: no"},
        {"code": 6, "cluster": 2},
        {"code": 28, "cluster": -1, "proc": -1},
    )
    expected = [None, "mwt2", "mwt2", "mwt2", None, "purdue", None, None]
    assert found.site.to_list() == expected


def test_the_ad_and_then_the_host_tell_the_site() -> None:
    ad = json.dumps({"MATCH_EXP_JOBGLIDEIN_Site": "MWT2"})
    found = labels(
        {"code": 1, "slot": "slot1@ucsd@h", "attributes": ad},
        {"code": 1, "slot": "slot1@h", "host": "<10.0.0.1:9618?alias=e1.chtc.wisc.edu>"},
    )
    assert found.site.to_list() == ["mwt2", "chtc.wisc.edu"]


def test_no_rows() -> None:
    found = labels()
    assert len(found.masked) == len(found.cause) == len(found.site) == 0
