import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.cluster import Node, Plan, Program, Resources, Stage
from jobsight.cluster.states import (
    Attempt,
    append,
    done,
    explained,
    how_ended,
    last_line,
    logs,
    make_folders,
    plan_digest,
    read_states,
    state_file,
    take,
)
from jobsight.errors import OutputError

START = {"event": "start", "plan": "p", "submission": 1, "time": 5, "host": "h", "job": "7_1"}
END = {"event": "end", "plan": "p", "submission": 1, "time": 9, "status": 0}


def plan(
    *stages: tuple[str, ...], memory: int = 1, argument: str = "x", folder: Path = Path("/plan")
) -> Plan:
    asks = Resources(memory_mb=memory)
    made = tuple(
        Stage(f"s{number}", tuple(Node(name, (argument,), (), (), asks) for name in names))
        for number, names in enumerate(stages)
    )
    return Plan("p", folder, made, Program(("jobsight",)), shared=True)


def test_what_is_asked_for_may_change_but_not_what_is_done() -> None:
    first = plan_digest(plan(("a", "b"), ("c",)))
    assert len(first) == 8
    assert plan_digest(plan(("a", "b"), ("c",), memory=9)) == first
    others = [plan(("a",), ("c",)), plan(("a", "b", "c")), plan(("a", "b"), ("c",), argument="y")]
    assert first not in map(plan_digest, others)


def test_what_was_told_is_read_again(tmp_path: Path) -> None:
    make_folders(tmp_path)
    made = plan(("n", "never"), folder=tmp_path)
    digest = {"plan": plan_digest(made)}
    for line in (START, END | {"status": 85}, START | {"time": 12}, END | {"time": 20}):
        append(state_file(tmp_path, "n"), line | digest)
    attempts = read_states(made)
    assert attempts["never"] == []
    assert attempts["n"] == [Attempt(1, 5, "h", "7_1", 9, 85), Attempt(1, 12, "h", "7_1", 20, 0)]
    assert done(attempts["n"])
    assert not done(attempts["n"][:1])
    assert read_states(plan(("n",), folder=tmp_path))["n"] == []  # another plan


def test_a_line_cut_short_costs_only_itself(tmp_path: Path) -> None:
    make_folders(tmp_path)
    path, made = state_file(tmp_path, "n"), plan(("n",), folder=tmp_path)
    digest = {"plan": plan_digest(made)}
    append(path, START | digest)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        append(path, START | digest | {"time": 6})
        append(path, END | digest)
        attempts = read_states(made)["n"]
        assert attempts[-1] == Attempt(1, 6, "h", "7_1", 9, 0)


@given(st.lists(st.binary(max_size=80) | st.just(json.dumps(START).encode()), max_size=8))
def test_anything_may_stand_in_a_state_file(lines: list[bytes]) -> None:
    attempts: list[Attempt] = []
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue
        take(attempts, told, "p")
    assert len(attempts) >= lines.count(json.dumps(START).encode())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*START, *END, "cause", "final"]), _JSON), st.booleans())
def test_any_value_may_stand_in_a_line(told: dict[str, object], begun: bool) -> None:
    attempts = [Attempt(1, 5)] if begun else []
    take(attempts, told | {"plan": "p"}, "p")
    for one in attempts:
        assert isinstance(one.started, int)
        assert one.host is None or (len(one.host) <= 200 and one.host.isprintable())


def test_a_state_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space left"):
        append(Path("/dev/full"), START)
    with pytest.raises(OutputError, match="No such file"):
        append(tmp_path / "none" / "n", START)
    (tmp_path / "submitted").write_text("")
    with pytest.raises(OutputError, match="cannot make"):
        make_folders(tmp_path)


def test_the_last_words_are_shown_safely(tmp_path: Path) -> None:
    make_folders(tmp_path)
    out, err = logs(tmp_path, "n")
    assert last_line(tmp_path, err, out) == ("", None)
    out.write_text("fine\n")
    assert last_line(tmp_path, err, out) == ("fine", "submitted/logs/n.out")
    err.write_bytes(b"x" * 100_000 + b"\nlast \x1b[31m" + b"y" * 900 + b"\xff\n \n\n")
    shown, log = last_line(tmp_path, err, out)
    assert shown.startswith("last [31myyy")
    assert (len(shown), shown[-1]) == (300, "\N{REPLACEMENT CHARACTER}")
    assert log == "submitted/logs/n.err"
    err.unlink()
    err.mkdir()
    assert last_line(tmp_path, err, out) == ("fine", "submitted/logs/n.out")


def test_what_to_do_where_no_program_is() -> None:
    assert explained("ended with status 1", "no", 1) == "ended with status 1: no"
    assert explained("ended", "", 127).startswith("ended; the program is not there under that path")


def test_ends_in_words() -> None:
    assert how_ended(Attempt(1, 0, status=3)) == "ended with status 3"
    assert how_ended(Attempt(1, 0, status=137)) == "ended by signal 9 (SIGKILL)"
    assert how_ended(Attempt(1, 0, status=255, cause="x")) == "x; ended with status 255"
