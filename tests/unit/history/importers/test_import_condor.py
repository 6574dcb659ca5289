"""Ads of HTCondor's history: text, JSON, history files; and event logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.importing import SAMPLES, imported, states, written
from tests.support.logtext import EXECUTE, HELD, SUBMIT, record

from jobsight.errors import SourceError
from jobsight.history.importers import Options
from jobsight.history.importers.adtext import LONGEST_AD, cut_json, cut_text, parse_text

TEXT, JSON = SAMPLES / "condor-history.txt", SAMPLES / "condor-history.json"
AD = {"ClusterId": 5, "ProcId": 0, "GlobalJobId": "ap#5.0#1", "JobStatus": 4, "QDate": 1772442000}


def as_text(ad: dict[str, object]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in ad.items())


def test_text_and_json_of_one_history_are_the_same_documents() -> None:
    text, report = imported(TEXT)
    assert text == imported(JSON)[0]
    assert states(text) == {"completed": 3, "failed": 2, "cancelled": 2}
    assert (report.rows, report.bad) == (7, 0)
    assert text["5.0"].id == "htcondor:ap.testbed.example:5.0"
    assert text["5.0"].submission.arguments == "say \"hi\" back\\slash a' 'b café"
    assert text["3.0"].timeline[-1].signal == 9


def test_a_schedds_own_file_has_banners_behind_ads(tmp_path: Path) -> None:
    banner = '*** Offset = 0 ClusterId = 6 ProcId = 0 Owner = "alice" CompletionDate = 1\n'
    path = written(tmp_path, TEXT.read_text().replace("\n\n", f"\n{banner}"))
    assert imported(path)[0] == imported(TEXT)[0]


@pytest.mark.parametrize("form", ["lines", "array", "compact", "many"])
def test_json_in_any_layout(form: str, tmp_path: Path) -> None:
    ads = json.loads(JSON.read_text())
    text = {
        "lines": "\n".join(map(json.dumps, ads)),
        "array": json.dumps(ads),
        "compact": json.dumps(ads, separators=(",", ":")),
        "many": "".join(json.dumps([ad], indent=1) for ad in ads),
    }[form]
    assert imported(written(tmp_path, text))[0] == imported(JSON)[0]


def test_the_access_point_may_be_given() -> None:
    (job, *_) = imported(TEXT, options=Options(access_point="mine"))[0].values()
    assert job.id.startswith("htcondor:mine:")


def test_one_name_is_not_given_to_the_jobs_of_two_schedds(tmp_path: Path) -> None:
    ads = [
        f'{{"ClusterId": 7, "ProcId": 0, "QDate": 1772442000, "GlobalJobId": "{point}#7.0#1"}}'
        for point in ("one", "two", "one")
    ]
    path = written(tmp_path, "[" + ",\n".join(ads) + "]")
    _, report = imported(path, options=Options(access_point="ap"))
    assert (report.rows, report.bad, report.first_bad[0].place) == (3, 1, 2)
    assert "'two', the first of 'one'" in report.first_bad[0].reason
    assert imported(path)[1].bad == 0


def test_strings_of_text_ads_keep_their_backslashes() -> None:
    ad = parse_text(
        b'A = "C:\\new\\table \\" x"\nB = "end\\"\nC = regexp("\\\\d", y)\nD = undefined\n'
    )
    assert ad == {"A": 'C:\\new\\table " x', "B": "end\\", "C": 'regexp("\\\\d", y)', "D": None}


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 10**6])
@pytest.mark.parametrize("path", [TEXT, JSON], ids=["text", "json"])
def test_ads_are_cut_alike_in_blocks_of_any_size(path: Path, size: int) -> None:
    data = path.read_bytes()[: 9000 if size < 64 else None]
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    if path == TEXT:
        assert list(cut_text(blocks)) == list(cut_text([data]))
    else:
        assert list(cut_json(blocks)) == list(cut_json([data]))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ('{"ClusterId": 5, "ProcId": }', "no sound JSON"),
        ('{"ClusterId": 5}', "without ClusterId and ProcId"),
        ("[" * 3 + "nonsense", "no ad"),
        ('{"ClusterId": 5, "ProcId": 0, "A": "cut', "no sound JSON"),
        ('{"ClusterId": ' + '{"A":' * 5000 + "1" + "}" * 5001, "nested"),
        ('{"ClusterId": 5, "ProcId": 0, "QDate": 5}', "access point"),
    ],
)
def test_bad_ads_of_json_leave_the_others(damage: str, reason: str, tmp_path: Path) -> None:
    good = [json.dumps({**AD, "ProcId": proc}) for proc in (1, 2)]
    path = written(tmp_path, "\n".join([good[0], damage, good[1]]))
    jobs, report = imported(path)
    assert set(jobs) == {"5.1", "5.2"}
    assert reason in report.first_bad[0].reason
    assert report.first_bad[0].place == 2


def test_an_ad_cut_short_at_the_end_is_told(tmp_path: Path) -> None:
    text = json.dumps([AD, AD], indent=1)
    jobs, report = imported(written(tmp_path, text[: len(text) - 20]))
    assert set(jobs) == {"5.0"}
    assert report.first_bad[0].reason == "the ad is cut short"


@pytest.mark.slow
@pytest.mark.parametrize("deep", ['{"b":\n', '{"b": x\n'])
def test_objects_without_end_in_each_other_are_read_in_bounded_time(deep: str) -> None:
    """Each of them searched to the end of the file, this would take minutes."""
    good = json.dumps(AD).encode()
    found = list(cut_json([good + b"\n" + deep.encode() * 10_000, b"}" * 10]))
    assert [ad is None for _, ad in found][:2] == [False, True]
    assert all(piece.fault for piece, _ in found[1:])


def test_damage_is_one_bad_row_however_long(tmp_path: Path) -> None:
    huge = '{"ClusterId": 5, "A": "' + "x" * (LONGEST_AD + (3 << 20)) + '"}'
    path = written(tmp_path, "\n".join([json.dumps(AD), huge, json.dumps({**AD, "ProcId": 3})]))
    jobs, report = imported(path)
    assert set(jobs) == {"5.0", "5.3"}
    assert (report.bad, report.first_bad[0].place) == (1, 2)


def test_a_text_ad_cut_short_at_the_end_is_told(tmp_path: Path) -> None:
    """What is left of a number is a number as well."""
    text = as_text(AD) + "\n" + as_text({**AD, "ProcId": 3, "CompletionDate": 1795242601})
    jobs, report = imported(written(tmp_path, text[:-4]))
    assert set(jobs) == {"5.0"}
    assert report.first_bad[0].reason == "the ad is cut short"
    assert set(imported(written(tmp_path, text))[0]) == {"5.0", "5.3"}


def test_bad_ads_of_text_leave_the_others(tmp_path: Path) -> None:
    text = (
        as_text(AD) + "\n" + "ClusterId = 7\n\n" + "what is this\n\n" + as_text({**AD, "ProcId": 3})
    )
    jobs, report = imported(written(tmp_path, text))
    assert set(jobs) == {"5.0", "5.3"}
    assert [row.place for row in report.first_bad] == [7, 9]
    assert "no attribute" in report.first_bad[1].reason


def test_an_ad_without_end_is_not_kept_in_memory() -> None:
    line = b'A = "' + b"x" * 1000 + b'"\n'
    (piece,) = cut_text([line] * (LONGEST_AD // len(line) + 10))
    assert piece.fault is not None
    assert len(piece.data) <= 200
    pieces = list(cut_json([b'{"A": "' + b"x" * LONGEST_AD, b"x" * 100]))
    assert all(len(piece.data) <= 200 for piece, _ in pieces)
    assert all(ad is None for _, ad in pieces)


def test_half_characters_are_replaced(tmp_path: Path) -> None:
    ad = json.dumps({**AD, "Owner": "a\ud800"})
    assert imported(written(tmp_path, ad))[0]["5.0"].submission.user == "a\ufffd"


def test_an_empty_history_is_no_error(tmp_path: Path) -> None:
    jobs, report = imported(written(tmp_path, "[\n]\n"))
    assert (jobs, report.bad) == ({}, 0)


def test_text_that_is_no_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no ad of a job"):
        imported(written(tmp_path, "good\nmorning\n"), format="condor-history")


def test_an_event_log_becomes_timelines(tmp_path: Path) -> None:
    log = record(0, SUBMIT) + record(1, EXECUTE) + record(12, HELD)
    jobs, report = imported(
        written(tmp_path, log), options=Options(access_point="ap", timezone="UTC")
    )
    (job,) = jobs.values()
    assert job.id.startswith("htcondor:ap:")
    assert [event.code for event in job.timeline] == [0, 1, 12]
    assert str(job.state) == "held"
    assert (report.rows, report.files[0][1]) == (3, "eventlog")


def test_an_event_log_whose_access_point_nobody_names(tmp_path: Path) -> None:
    log = "000 (005.000.000) 2026-03-02 09:00:00 Job submitted from host: <>\n...\n"
    (job,) = imported(written(tmp_path, log))[0].values()
    assert job.id.startswith("htcondor:log-")


def test_damage_in_an_event_log_is_counted(tmp_path: Path) -> None:
    log = record(0, SUBMIT) + b"rubbish\n...\n" + record(1, EXECUTE)
    jobs, report = imported(written(tmp_path, log), options=Options(timezone="UTC"))
    assert len(jobs) == 1
    assert (report.bad, report.first_bad[0].unit) == (1, "byte")


def test_forms_of_event_logs_are_told_from_histories() -> None:
    forms = SAMPLES.parent / "forms"
    for name in ("json", "xml", "legacy", "rot"):
        _, report = imported(forms / name)
        assert {kind for _, kind in report.files} == {"eventlog"}
