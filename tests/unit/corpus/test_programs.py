"""The corpus of programs is as its README says, and labels follow from what was measured."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from corpus.programs import families
from corpus.programs import measure as measuring
from corpus.programs.families import Program, programs, read_family
from corpus.programs.truth import AMBIGUOUS, Counted, Row, judged, read_rows, write_rows

from jobsight.errors import SourceError
from jobsight.program.profile import CLASSES

PROGRAMS = programs()
ROW = Row(
    "f/a.py", "f", "python", "cpu", ("cpu",), {"cpu": 1.0}, 3.0, 0.0, 0.1, "cachegrind", "d", "m",
    "2026-01-01T00:00:00Z",
)  # fmt: skip


def test_about_half_of_the_programs_are_python() -> None:
    of_python = sum(one.language == "python" for one in PROGRAMS)
    assert 0.4 <= of_python / len(PROGRAMS) <= 0.6
    assert all(one.intent in CLASSES for one in PROGRAMS)


def test_no_program_is_left_out_of_its_family() -> None:
    for one in PROGRAMS:
        folder = families.HERE / one.family
        described = (folder / "family.toml").read_text()
        files = {path.name for path in folder.iterdir() if path.name != "family.toml"}
        assert {name for name in files if name not in described} == set()


def test_rows_describe_programs_that_are_there() -> None:
    known = {one.path: one for one in PROGRAMS}
    for row in read_rows().values():
        assert known[row.path].language == row.language
        assert row.label == (row.classes[0] if len(row.classes) == 1 else AMBIGUOUS)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[program]\n", "Expected"),
        ('[[program]]\nfile = "a.py"\nlanguage = "python"\n', "intent"),
        ('[[program]]\nfile = "a.py"\nlanguage = "python"\nintent = "io"\nsize = 1\n', "size"),
        ('[[program]]\nfile = "a.py"\nlanguage = "cobol"\nintent = "io"\n', "cobol"),
        ('[[program]]\nfile = "b.py"\nlanguage = "python"\nintent = "io"\n', "no 'b.py'"),
        ('[[program]]\nfile = "a.py"\nlanguage = "python"\nintent = "io"\n' * 6, "1 to 5"),
        ("program = []\n", "1 to 5"),
    ],
)
def test_faulty_descriptions_are_refused_with_their_file(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "family.toml").write_text(text)
    with pytest.raises(SourceError, match=says) as caught:
        read_family(tmp_path)
    assert "family.toml" in str(caught.value)


def profile_of(**shares: float) -> dict[str, Any]:
    known = {"cpu": 0.0, "memory": None, "io": 0.0, "network": 0.0, "gpu": None, "waiting": 0.0}
    return {"shares": {**known, **shares}, "signals": {"capacity": None}}


@pytest.mark.parametrize(
    ("shares", "counted", "classes"),
    [
        ({"cpu": 0.95}, (1.0, 1000.0), ("cpu",)),
        ({"cpu": 0.95}, (20.0, 1000.0), ("memory",)),
        ({"cpu": 0.95}, (5.0, 1000.0), ("cpu", "memory")),
        ({"cpu": 0.95}, None, ("cpu", "memory")),
        ({"cpu": 0.7, "waiting": 0.3}, (1.0, 1000.0), ("cpu", "waiting")),
        ({"cpu": 0.5, "waiting": 0.5}, (1.0, 1000.0), ("waiting",)),
        ({"io": 0.5, "cpu": 0.5}, (1.0, 1000.0), ("io",)),
        ({"io": 0.4, "network": 0.4}, None, ("io", "network")),
        ({"network": 0.8, "waiting": 0.2}, None, ("network",)),
    ],
)
def test_classes_that_lie_close_together_are_all_possible(
    shares: dict[str, float], counted: Counted | None, classes: tuple[str, ...]
) -> None:
    assert judged(profile_of(**shares), counted)[0] == classes


def test_stalls_are_taken_from_cpu() -> None:
    _, shares = judged(profile_of(cpu=0.8, waiting=0.2), (10.0, 1000.0))
    assert shares == {"cpu": 0.4, "memory": 0.4, "io": 0.0, "network": 0.0, "waiting": 0.2}


def test_rows_survive_a_merge_that_keeps_both_sides(tmp_path: Path) -> None:
    file = tmp_path / "measured.jsonl"
    newer = msgspec.structs.replace(ROW, label="io", measured="2026-01-02T00:00:00Z")
    write_rows([newer], file)
    file.write_bytes(file.read_bytes() + msgspec.json.encode(ROW) + b"\n")
    assert read_rows(file) == {ROW.path: newer}


def test_a_program_without_a_description_changes_with_the_files_next_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(families, "HERE", tmp_path)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/run.py").write_text("pass\n")
    program = Program("run.py", "python", "", family="bench")
    before = program.digest()
    (tmp_path / "bench/data.txt").write_text("1\n")
    assert before != program.digest()


def test_programs_that_did_not_change_are_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, measured = PROGRAMS[:2], list[str]()
    file = tmp_path / "measured.jsonl"
    old = msgspec.structs.replace(ROW, path=here[0].path, digest=here[0].digest())
    write_rows([old, msgspec.structs.replace(ROW, path="gone/a.py")], file)

    def measure(one: Program, _timeout: float) -> Row:
        measured.append(one.path)
        return msgspec.structs.replace(ROW, path=one.path)

    monkeypatch.setattr(measuring, "programs", lambda: here)
    monkeypatch.setattr(measuring, "_prepare", lambda _todo: {})
    monkeypatch.setattr(measuring, "measure", measure)
    monkeypatch.setattr(measuring, "read_rows", lambda: read_rows(file))
    monkeypatch.setattr(measuring, "write_rows", lambda rows: write_rows(rows, file))
    assert measuring.main([]) == 0
    assert measured == [here[1].path]
    assert set(read_rows(file)) == {one.path for one in here}


@pytest.mark.slow
def test_a_program_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f/a.sh").write_text("read -r line < in.txt && sleep 2.5\n")
    monkeypatch.setattr(families, "HERE", tmp_path)
    (tmp_path / "f/family.toml").write_text(
        '[[program]]\nfile = "a.sh"\nlanguage = "bash"\nintent = "io"\n'
        'inputs = [["cp", "{file}", "in.txt"]]\n'
    )
    row = measuring.measure(read_family(tmp_path / "f")[0])
    assert (row.label, row.how) == ("waiting", "shares")


def test_every_source_that_may_be_no_job_has_a_label_and_a_line() -> None:
    folder = families.HERE / "notjobs"
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    assert {one["file"] for one in labels} == {path.name for path in folder.iterdir()} - {
        "labels.jsonl"
    }
    assert sum(one["job"] for one in labels) >= 30 <= sum(not one["job"] for one in labels)
    for one in labels:
        assert 1 <= one["line"] <= len((folder / one["file"]).read_text().splitlines())
        assert one["reason"]
