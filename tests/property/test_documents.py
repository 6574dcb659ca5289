"""Job documents: the codec and the rules of merging, held against anything that may come."""

import contextlib
import copy
import json
import re
from typing import Any

import msgspec
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.support.limits import PROVE, examples

from jobsight.documents import (
    Event,
    JobDocument,
    JobKey,
    Prediction,
    Program,
    Request,
    State,
    Submission,
    Usage,
    decode,
    encode,
    merge,
    parse_key,
    to_json,
)
from jobsight.documents.merging import FIRST_EVENTS, MOST_EVENTS
from jobsight.documents.states import slurm_state
from jobsight.errors import DocumentError, UsageError

SECOND = 1_000_000
WHOLE = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["\x1b[2J", "\x00", "\u202e", '"},{"', "</script>", "' OR 1=1 --", "unknown"]),
)
JSONS = st.recursive(
    st.none() | st.booleans() | WHOLE | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, JSONS, max_size=3)
STATES = st.none() | st.sampled_from(State)


FEW = settings(max_examples=40 if PROVE else 15)
"""Drawing whole documents is slow."""

UNTIMED = settings(deadline=None)
"""Many merges take as long as the machine is busy."""


def section(kind: type[msgspec.Struct], **special: st.SearchStrategy[Any]) -> Any:
    """Sections of any content: whole numbers, floats and texts by the types of the fields."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for field in msgspec.structs.fields(kind):
        usual: st.SearchStrategy[Any] = FLOATS if field.type == float | None else WHOLE
        usual = TEXT if "str" in str(field.type) else usual
        usual = st.lists(TEXT, max_size=3).map(tuple) if "tuple" in str(field.type) else usual
        usual = st.booleans() if field.type is bool else usual
        always = field.required or field.type is bool
        fields[field.name] = usual if always else st.none() | usual
    return st.builds(kind, **fields | special)


DOCUMENTS = st.builds(
    JobDocument,
    id=TEXT,
    updated=WHOLE,
    state=STATES,
    request=section(Request),
    submission=section(Submission),
    program=section(Program, findings=st.none() | st.lists(OBJECTS, max_size=2).map(tuple)),
    timeline=st.lists(section(Event, state=STATES), max_size=4).map(tuple),
    dropped=st.integers(0, 2**40),
    usage=section(Usage, bound=st.none() | OBJECTS),
    predictions=st.lists(section(Prediction, answer=OBJECTS), max_size=2).map(tuple),
)


@FEW
@given(DOCUMENTS)
def test_any_document_comes_back_as_it_was(document: JobDocument) -> None:
    data = encode(document)
    assert decode(data) == document
    assert json.loads(json.dumps(to_json(document))) == json.loads(data)
    assert b"\n" not in data


def _objects(tree: Any) -> list[dict[str, Any]]:
    """The objects of a document's JSON that are structs of ours."""
    parts = [tree.get(name) for name in ("request", "submission", "program", "usage")]
    lists = [*tree.get("timeline", []), *tree.get("predictions", [])]
    return [tree, *(part for part in parts if part), *lists]


@FEW
@given(DOCUMENTS, TEXT, JSONS, st.data())
def test_a_field_that_this_version_does_not_have_is_refused(
    document: JobDocument, name: str, value: Any, data: st.DataObject
) -> None:
    tree = json.loads(encode(document))
    place = data.draw(st.sampled_from(_objects(tree)))
    place[f"no {name}"] = value
    _is_refused(json.dumps(tree).encode())


@FEW
@given(DOCUMENTS, st.data())
def test_a_value_of_another_type_is_refused(document: JobDocument, data: st.DataObject) -> None:
    tree = json.loads(encode(document))
    place = data.draw(st.sampled_from(_objects(tree)))
    known = sorted(set(place) - {"answer"})
    assume(known)
    place[data.draw(st.sampled_from(known))] = data.draw(st.sampled_from([True, {"a": 1}, [[]]]))
    _is_refused(json.dumps(tree).encode())


def _is_refused(data: bytes) -> None:
    try:
        decode(data)
    except DocumentError as error:
        assert "\n" not in str(error)
        return
    raise AssertionError(data)


TOKENS = st.sampled_from(
    [b'{"schema":1,', b'{"schema":2,', b'"id":"a",', b'"updated":1', b"}", b"{", b"[", b"]", b",",
     b'"timeline":[', b'{"time":1,"source":"s"}', b'"unknown":{', b'"x":', b"null", b"1e999", b"-0",
     b'"\\ud800"', b"\xff", b"123456789012345678901234567890", b'"request":', b"true", b" "],
)  # fmt: skip


@settings(max_examples=examples(500))
@given(st.binary(max_size=60) | st.lists(TOKENS, max_size=14).map(b"".join))
def test_any_bytes_are_a_document_or_one_error(data: bytes) -> None:
    _is_a_document_or_one_error(data)


def _is_a_document_or_one_error(data: bytes) -> None:
    try:
        document = decode(data)
    except DocumentError as error:
        assert len(str(error)) < 500
        return
    assert decode(encode(document)) == document


@FEW
@given(DOCUMENTS, st.data())
def test_damaged_bytes_are_a_document_or_one_error(document: JobDocument, data: Any) -> None:
    written = bytearray(encode(document))
    for _ in range(data.draw(st.integers(1, 3))):
        written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    _is_a_document_or_one_error(bytes(written))


@given(st.sampled_from(["htcondor", "slurm"]), TEXT)
def test_any_name_of_a_cluster_stands_in_an_id(scheduler: str, name: str) -> None:
    assume(name)
    key = JobKey(scheduler, name, "1.0" if scheduler == "htcondor" else "1_2")
    assert parse_key(str(key)) == key
    assert re.fullmatch(r"[\x21-\x7e]+", str(key))


@given(st.text(max_size=20))
def test_any_text_is_an_id_or_one_error_and_a_state_or_none(text: str) -> None:
    slurm_state(text)
    with contextlib.suppress(UsageError):
        assert parse_key(text)


# --- merging ---


def columns(at: int, state: State | None, word: str | None) -> dict[str, Any]:
    return {"time": at * SECOND // 4, "state": state, "word": word}


MOMENTS = st.integers(0, 12)
ASKED = st.builds(
    lambda at, state, word, source: Event(source=source, **columns(at, state, word)),
    MOMENTS,
    STATES,
    st.sampled_from([None, "A", "REQUEUED"]),
    st.sampled_from(["sacct", "squeue"]),
)


def _log(steps: list[tuple[int, int, State | None]], source: str) -> list[Event]:
    return [
        Event(source=source, position=10 * at, code=code, **columns(time, state, None))
        for at, (time, code, state) in enumerate(steps)
    ]


STEPS = st.lists(st.tuples(MOMENTS, st.sampled_from([0, 1, 12]), STATES), max_size=8)
ANSWERS = st.lists(ASKED, max_size=6)
PARTS = st.tuples(
    STEPS.map(lambda steps: _log(steps, "log-a")),
    STEPS.map(lambda steps: _log(steps[:4], "log-b#1") + _log(steps[4:], "log-b#2")),
    ANSWERS,
    ANSWERS,
)
"""What two logs tell, and what two calls were answered."""


def part(events: list[Event], updated: int = 0) -> JobDocument:
    return JobDocument(id="slurm:c:1", updated=updated, timeline=tuple(events))


def joined(parts: list[JobDocument]) -> JobDocument:
    document = JobDocument(id="slurm:c:1", updated=0)
    for one in parts:
        document = merge(document, one)
    return document


def is_guess(event: Event) -> bool:
    return event.state is State.UNKNOWN_END and event.position is None


def forgets_a_guess(parts: list[list[Event]]) -> bool:
    """Whether an end that nobody told may be forgotten or not, by what was heard first."""
    events = [event for part in parts for event in part]
    ends = [event for event in events if event.state is not None and event.state.ended]
    return any(map(is_guess, ends)) and not all(map(is_guess, ends))


def tells_an_end_anew(first: list[Event], second: list[Event]) -> bool:
    """Whether one source was answered an end in other words: then the newer answer is right."""
    words: dict[tuple[Any, ...], set[str | None]] = {}
    for one in (*first, *second):
        if one.state is not None and one.state.ended:
            words.setdefault((one.source, one.time, one.state), set()).add(one.word)
    return any(len(told) > 1 for told in words.values())


def told_for_sure(document: JobDocument) -> list[Event]:
    return sorted((event for event in document.timeline if not is_guess(event)), key=repr)


@UNTIMED
@given(PARTS, st.integers(0, 3))
def test_a_document_merged_twice_changes_nothing(parts: list[list[Event]], which: int) -> None:
    documents = [part(events, updated) for updated, events in enumerate(parts)]
    document = joined(documents)
    assert merge(document, document) is document
    again = documents[which]
    assert merge(document, again) is document


def test_a_word_takes_no_place_in_a_log_from_a_record_that_says_the_same() -> None:
    word = Event(time=SECOND + 1, source="a", code=7, state=State.PREEMPTED)
    record = Event(time=SECOND, source="b", position=9, state=State.PREEMPTED)
    one = joined([part([word, record])])
    assert one.timeline == (word,)
    assert merge(one, part([word, record])) is one


@FEW
@given(DOCUMENTS, DOCUMENTS)
def test_any_two_documents_merge_once_for_all(first: JobDocument, second: JobDocument) -> None:
    second = msgspec.structs.replace(second, id=first.id)
    before = copy.deepcopy((first, second))
    one = merge(merge(None, first), second)
    assert merge(one, second) is one
    assert (first, second) == before
    assert decode(encode(one)) == one


@UNTIMED
@given(PARTS, st.randoms(use_true_random=False))
def test_sources_may_be_heard_in_any_order(parts: list[list[Event]], random: Any) -> None:
    assume(not tells_an_end_anew(*parts[2:]))
    documents = [part(events) for events in parts]
    usual = joined(documents)
    random.shuffle(documents)
    other = joined(documents)
    if forgets_a_guess(parts):
        assert told_for_sure(other) == told_for_sure(usual)
        return
    assert other.timeline == usual.timeline
    assert (other.state, other.outcome) == (usual.state, usual.outcome)


@UNTIMED
@given(STEPS, STEPS, ANSWERS, st.data())
def test_a_rotated_log_and_what_was_asked_may_come_in_any_cuts(
    steps: list[tuple[int, int, State | None]],
    more: list[tuple[int, int, State | None]],
    asked: list[Event],
    data: st.DataObject,
) -> None:
    assume(not tells_an_end_anew(asked, []))  # an older piece that comes again would be the newer
    log = _log(steps, "log#1") + _log(more, "log#2")
    usual = joined([part(log), part(asked)])
    pieces: list[JobDocument] = []
    left = [list(log), list(asked)]
    while any(left):
        events = left[data.draw(st.integers(0, 1))] or left[0] or left[1]
        size = data.draw(st.integers(1, 4))
        pieces.append(part(events[:size]))
        del events[:size]
        if data.draw(st.booleans()):
            pieces.append(data.draw(st.sampled_from(pieces)))
    other = joined(pieces)
    if forgets_a_guess([log, asked]):
        assert told_for_sure(other) == told_for_sure(usual)
        return
    assert other.timeline == usual.timeline


def test_an_end_that_nobody_told_stays_forgotten_once_an_end_was_told() -> None:
    pending = part(_log([(1, 0, State.PENDING)], "log-a"))
    ended = Event(source="sacct", **columns(0, State.COMPLETED, None))
    guess = Event(source="squeue", **columns(1, State.UNKNOWN_END, "GONE"))
    last = joined([part([ended, guess]), pending])
    assert last.timeline == (ended, *pending.timeline)
    assert last.state is State.PENDING  # so it is asked about again
    assert joined([pending, part([ended, guess])]).state is State.UNKNOWN_END


@settings(max_examples=examples(30))
@given(st.integers(0, 300), st.lists(st.integers(1, 700), min_size=1, max_size=8), st.data())
def test_the_middle_of_a_long_log_is_dropped_alike_in_any_cuts(
    surplus: int, sizes: list[int], data: st.DataObject
) -> None:
    count = MOST_EVENTS + surplus
    log = _log([(at // 3, 12, State.HELD) for at in range(count)], "log")
    whole = joined([part(log)])
    assert (len(whole.timeline), whole.dropped) == (MOST_EVENTS, surplus)
    assert whole.timeline[:FIRST_EVENTS] == tuple(log[:FIRST_EVENTS])
    assert whole.timeline[-1:] == tuple(log[-1:])
    document = joined([])
    at = 0
    while at < count:
        size = sizes[at % len(sizes)]
        again = data.draw(st.integers(0, 50))
        document = merge(document, part(log[max(at - again, 0) : at + size]))
        at += size
    assert document == whole
    assert merge(document, part(log)) is document


@given(st.lists(ASKED, min_size=1, max_size=6))
def test_a_guess_stands_only_while_nobody_knows_better(asked: list[Event]) -> None:
    document = joined([part(asked)])
    guesses = [one.time for one in document.timeline if one.state is State.UNKNOWN_END]
    sure = [one for one in asked if one.state not in (None, State.UNKNOWN_END)]
    known = joined([part(sure)]).timeline
    if known and known[-1].state is not None and known[-1].state.ended:
        assert not guesses
    assert all(one.time <= guess for one in sure for guess in guesses)
    assert len(document.timeline) <= len(asked)


REPORTED = st.builds(
    Event,
    time=st.integers(0, 5).map(lambda second: second * SECOND // 2),
    source=st.just("sacct"),
    state=st.sampled_from([None, *State]),
    word=st.sampled_from([None, "ELIGIBLE", "REQUEUED"]),
    code=st.sampled_from([None, None, 1]),
)


def sacct(second: int, state: State) -> Event:
    return Event(time=second * SECOND, source="sacct", state=state)


@given(st.lists(REPORTED, max_size=8))
@example([sacct(0, State.COMPLETED), sacct(1, State.SUSPENDED)])
@example([sacct(1, State.SUSPENDED), sacct(0, State.COMPLETED)])
def test_the_first_document_is_joined_with_nothing(events: list[Event]) -> None:
    new = JobDocument(id="slurm:c:1", updated=9, timeline=tuple(events), request=Request(cpus=2))
    empty = JobDocument(id="slurm:c:1", updated=0)
    first = merge(None, new)
    assert first == merge(empty, new)
    assert merge(first, new) is first
