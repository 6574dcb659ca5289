"""The text reader held against HTCondor's own, `htcondor2.JobEventLog`, event by event.

Each difference is explained in `EXPLAINED`, by the name of its file. Logs from public repositories
that hold personal data in their names are called by the SHA-256 of the name.
"""

from __future__ import annotations

import datetime as dt
import difflib
import gzip
import hashlib
import json
import os
import re
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import PROVE
from tests.support.logtext import RELEASED, SUBMIT, TABLE, USAGE, record

from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.events import read_events
from jobsight.history.readreport import ReadReport

htcondor2 = pytest.importorskip("htcondor2", reason="HTCondor's own reader is not installed")

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "../shared/data/htcondor"
YEARLESS = re.compile(rb"\d{3} \([^)]*\) \d\d/\d\d ")

Event = dict[str, Any]
Difference = tuple[int | str, str]
"""Event number, and the field or what else is different."""


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def theirs(path: Path) -> tuple[list[Event], bool]:
    """The events that HTCondor's reader finds, and whether it then gave up with an error."""
    events: list[Event] = []
    try:
        events.extend(
            dict(event, cluster=event.cluster, proc=event.proc)
            for event in htcondor2.JobEventLog(str(path)).events(0)
        )
    except htcondor2.HTCondorException:
        return events, True
    return events, False


def ours(path: Path) -> tuple[list[Event], ReadReport]:
    found = read_events([str(path)], timezone="UTC")
    return found.table.sort("offset").to_dicts(), found.report


def _moment(event: Event) -> tuple[str, str]:
    """Year, and the rest of the time to the millisecond, as HTCondor's reader tells it."""
    moment = dt.datetime.fromisoformat(event["EventTime"]).replace(tzinfo=None)
    return f"{moment:%Y}", f"{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"


def _our_moment(event: Event) -> tuple[str, str]:
    moment = event["time"]
    return f"{moment:%Y}", f"{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"


def _pairs(
    other: list[Event], own: list[Event]
) -> tuple[list[tuple[Event, Event]], Counter[Difference]]:
    """Events that both readers found, and how many only one of them did."""
    left = [(e["EventTypeNumber"], e["cluster"], e["proc"], _moment(e)[1]) for e in other]
    right = [(e["code"], e["cluster"], e["proc"], _our_moment(e)[1]) for e in own]
    if left == right:
        return list(zip(other, own, strict=True)), Counter()
    pairs: list[tuple[Event, Event]] = []
    different: Counter[Difference] = Counter()
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for _, a, to_a, b, to_b in matcher.get_opcodes():
        if left[a:to_a] == right[b:to_b]:
            pairs += zip(other[a:to_a], own[b:to_b], strict=True)
        else:
            different["events", "only theirs"] += to_a - a
            different["events", "only ours"] += to_b - b
    return pairs, +different


_REASON = {4: "Reason", 7: "Message", 9: "Reason", 12: "HoldReason", 13: "Reason", 21: "ErrorMsg",
           22: "DisconnectReason", 24: "Reason"}  # fmt: skip
_FIELDS: dict[int, dict[str, str]] = {
    0: {"host": "SubmitHost"},
    1: {"host": "ExecuteHost", "slot": "SlotName"},
    4: {
        "return_value": "ReturnValue",
        "signal": "TerminatedBySignal",
        "vacate_code": "ReasonCode",
        "vacate_subcode": "ReasonSubCode",
    },
    5: {"return_value": "ReturnValue", "signal": "TerminatedBySignal"},
    6: {"memory_mb": "MemoryUsage"},
    12: {"hold_code": "HoldReasonCode", "hold_subcode": "HoldReasonSubCode"},
    14: {"host": "ExecuteHost"},
    15: {"return_value": "ReturnValue", "signal": "TerminatedBySignal"},
    16: {
        "return_value": "ReturnValue",
        "signal": "TerminatedBySignal",
        "dag_node": "DAGNodeName",
    },
    22: {"slot": "StartdName", "host": "StartdAddr"},
    23: {"slot": "StartdName"},
    24: {"slot": "StartdName"},
    40: {"detail": "Type", "host": "Host"},
}


def _node(event: Event) -> str | None:
    found = re.match(r"DAG Node: (.*)", event.get("LogNotes") or "")
    return found[1].strip() if found else None


def _compare(other: Event, own: Event, yearless: bool) -> Iterator[Difference]:
    """The fields in which the two readers differ about one event."""
    code = own["code"]
    if not yearless and _moment(other)[0] != _our_moment(own)[0]:
        yield code, "year"
    if "Subproc" in other and other["Subproc"] != own["subproc"]:
        yield code, "subproc"
    if code == 0 and _node(other) != own["dag_node"]:
        yield code, "dag_node"
    names = {**_FIELDS.get(code, {}), **({"reason": _REASON[code]} if code in _REASON else {})}
    # HTCondor's reader leaves a sub-code of 0 out.
    own = own | ({"vacate_subcode": own["vacate_subcode"] or None} if code == 4 else {})
    for ours_name, their_name in names.items():
        if own[ours_name] != other.get(their_name):
            yield code, ours_name


def _same_ad(own: Event, other: Event) -> bool:
    """Whether two readings of one 028 tell the same, of scalars."""
    for name, value in own.items():
        their = other.get(name)
        if isinstance(their, bool | int | float | str) and name not in ("EventTime", "MyType"):
            if isinstance(value, str) and not isinstance(their, str):
                continue  # an expression, which HTCondor's reader evaluates
            if value != their:
                return False
    return True


def _compare_ads(own: list[Event], informations: list[Event]) -> Counter[Difference]:
    ads = [json.loads(row["attributes"]) for row in own if row["attributes"] is not None]
    if len(ads) != len(informations):
        return Counter({(28, "number of ads"): 1})
    pairs = zip(ads, informations, strict=True)
    return Counter((28, "attributes") for ad, other in pairs if not _same_ad(ad, other))


def differences(path: Path) -> tuple[Counter[Difference], ReadReport]:
    other, gave_up = theirs(path)
    own, report = ours(path)
    raw = path.read_bytes()
    pairs, different = _pairs(other, own)
    if gave_up:
        different["events", "theirs gave up"] += 1
    different.update(_compare_ads(own, [one for one, row in pairs if row["code"] == 28]))
    for their_event, event in pairs:
        yearless = YEARLESS.match(raw, event["offset"]) is not None
        different.update(_compare(their_event, event, yearless))
    return different, report


_LINES = "the text goes on over more lines, of which theirs takes the first"
_NO_SEPARATORS = "records without separators between them: theirs loses them"
_NOT_TOLD = "the record has no line of codes; theirs says 0, which would be a code"

EXPLAINED: dict[str, dict[Difference, tuple[int, str]]] = {
    "125c7da03887d573": {(7, "reason"): (1, _LINES)},
    "9a09005c44880ad1": {(7, "reason"): (1, _LINES)},
    "0ee65251b532b5de": {(7, "reason"): (2, _LINES)},
    "63fe36bdfe562adc": {(7, "reason"): (13, _LINES)},
    "d28b473e925548d1": {(7, "reason"): (1, _LINES)},
    "879858d804d12db9": {(7, "reason"): (1, _LINES)},
    "a54e567f8c9820d6": {
        (12, "reason"): (1, _LINES),
        (12, "hold_code"): (1, "behind the second line of the reason theirs misses the codes"),
        (12, "hold_subcode"): (1, "as above"),
    },
    "525de52f12e996a5": {
        (4, "reason"): (1, "theirs takes an indented head of the resource table for a reason"),
    },
    "8bb3f1d1a9286a1e": {("events", "only ours"): (7, _NO_SEPARATORS)},
    "1cee0e40e4d2e20f": {("events", "only ours"): (2, _NO_SEPARATORS)},
    "d8df2487fd29dd10": {("events", "only ours"): (3, _NO_SEPARATORS)},
    "ab140ee06df4cdca": {("events", "only ours"): (8, _NO_SEPARATORS)},
    "0a699cc157df0548": {("events", "only ours"): (8, _NO_SEPARATORS)},
    "355d151bce7d6ed4": {
        ("events", "only ours"): (1, "a separator behind a blank is none: theirs loses a record"),
        (7, "reason"): (1, "no message: theirs is an empty text, ours null"),
    },
    "e8d6a16fe3efe6c4": {
        ("events", "theirs gave up"): (1, "a documentation's placeholder for the return value"),
        ("events", "only ours"): (1, "as above; ours has no return value"),
    },
    "038626b65082a499": {
        (1, "slot"): (1, "blanks instead of the tab: theirs misses the line"),
        (40, "host"): (1, "blanks instead of the tab: theirs misses the line"),
        (21, "reason"): (1, "blanks instead of the tab, which theirs keeps as text"),
    },
    "b3f190844e51f73d": {
        ("events", "only ours"): (6, "each record stands below lines of another program's"),
    },
    "b3f549a05d81c66e": {
        ("events", "only ours"): (167, "from an empty line between two records on theirs is lost"),
    },
    "fragment__htcondor+htcondor__src__condor_utils__condor_event.h": {
        ("events", "theirs gave up"): (1, "a comment's phrase of 000 that HTCondor never wrote"),
        ("events", "only ours"): (2, "as above"),
    },
    "htcondor+htcondor__src__condor_tests__job_dagman_recovery_event_check.log.dummy@f8971ef8": {
        ("events", "theirs gave up"): (1, "'submitted to host', a test's phrase of 000"),
        ("events", "only ours"): (7, "as above"),
    },
    "htcondor+htcondor__src__condor_utils__test_condor.log": {
        (5, "signal"): (41, "'signal -1' is written: theirs shows no negative numbers"),
        (16, "signal"): (41, "as above"),
        (15, "return_value"): (40, "the node was killed; theirs shows -1 for 'none'"),
        (7, "reason"): (28, "no message: theirs is an empty text, ours null"),
        (12, "hold_code"): (48, _NOT_TOLD),
        (12, "hold_subcode"): (48, _NOT_TOLD),
    },
}


def _check(path: Path, name: str) -> None:
    different, _ = differences(path)
    explained = {key: count for key, (count, _) in EXPLAINED.get(name, {}).items()}
    assert dict(different) == explained, f"{name}: not as explained"


def bundled() -> list[Path]:
    logs = [ROOT / "data/pool-a.log.gz", *sorted((ROOT / "data/forms").rglob("EventLog*"))]
    return [log for log in logs if log.parent.name not in ("json", "xml")]


@pytest.mark.parametrize("path", bundled(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_bundled_logs(path: Path, tmp_path: Path) -> None:
    if path.suffix == ".gz":
        target = tmp_path / path.stem
        text = gzip.decompress(path.read_bytes())
        quarter = text.index(b"\n...\n", len(text) // 4) + 5
        target.write_bytes(text if PROVE else text[:quarter])
        path = target
    different, report = differences(path)
    assert dict(different) == {}
    assert report.skipped == []


_PELICAN = (
    "Transfer input files failure at execution point slot1_6@e1.mwt2.org using protocol osdf. "
    "Details: Pelican Client Error: timeout ( URL file = osdf:///ospool/ap40/data/in.dat )|"
)


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        (" Code 13 Subcode -1004", _PELICAN),
        (" Code 12 Subcode -1001", _PELICAN.replace("input", "output")),
        (" Code 13 Subcode 2816", _PELICAN),
        (" Code 1022 Subcode 0", "Job vacated by schedd"),
        (" Code 1000 Subcode 3", "The job attribute PeriodicVacate expression 'x' is TRUE"),
        (" Code -1 Subcode 0", ""),
        ("", ""),
    ],
)
def test_vacates_as_25_writes_them(codes: str, reason: str, tmp_path: Path) -> None:
    """``JobEvictedEvent::formatBody`` of HTCondor 24.2 to 25.14."""
    why = f"\tReason: {reason}\n" if reason else ""
    vacate = record(4, f"Job was evicted.{codes}\n\t(0) CPU times\n{USAGE}{why}{TABLE}")
    hold = record(12, f"Job was held.\n\t{_PELICAN}\n\tCode 13 Subcode 256\n")
    path = tmp_path / "job.log"
    path.write_bytes(record(0, SUBMIT) + vacate + hold + record(13, RELEASED) + vacate)
    different, report = differences(path)
    assert (dict(different), report.skipped) == ({}, [])
    (first, *_, last) = [row for row in ours(path)[0] if row["code"] == 4]
    assert first | {"offset": 0} == last | {"offset": 0}
    words = f" Code {first['vacate_code']} Subcode {first['vacate_subcode']}"
    assert words == (codes or " Code None Subcode None")


def _name(file: str) -> str:
    """What a wild log is called here: its own name, or a hash where that tells of a person."""
    public = ("htcondor+htcondor__", "fragment__htcondor+htcondor__")
    return file if file.startswith(public) else hashlib.sha256(file.encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    archive = SHARED / "wild.tar.gz"
    if not archive.is_file():
        pytest.skip("the logs from public repositories are not here")
    folder = tmp_path_factory.mktemp("wild")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    os.sync()
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_wild_logs(wild: list[Path]) -> None:
    """All of them for `make prove`, else those that differ and one in eight of the others."""
    assert len(wild) == 560
    if not PROVE:
        wild = [
            path for at, path in enumerate(wild) if at % 8 == 0 or _name(path.name) in EXPLAINED
        ]
    found: dict[str, dict[Difference, int]] = {}
    for path in wild:
        if find_logs([str(path)])[0].kind in ("text", "empty"):
            different, _ = differences(path)
            if different:
                found[_name(path.name)] = dict(different)
    explained = {
        name: {key: count for key, (count, _) in one.items()} for name, one in EXPLAINED.items()
    }
    assert found == explained
