"""Probability, kind, evidence and advice of an answer of `fail` never contradict each other.

Histories are made by chance, and the real answers to them are read as a person reads them.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.failingjobs import documents, model, ran, table
from tests.support.limits import examples
from tests.support.storedjobs import START

from jobsight.documents import JobDocument, State
from jobsight.questions.fail.answering import Answerer
from jobsight.questions.fail.evidence import LAST, MARGIN
from jobsight.questions.fail.wording import worded

OOM, TIMEOUT, FAILED = State.OUT_OF_MEMORY, State.TIMEOUT, State.FAILED
DONE, NODE = State.COMPLETED, State.NODE_FAIL
NOW = START + 10_000_000 * 1_000_000
MEMORY, LIMITS = (1024, 4096, 4200, 16384), (600, 3600, 4000, 36_000)
CODES = (1, 2, 127, 137, 9, 139)
Run = dict[str, Any]


@st.composite
def ended(draw: st.DrawFn, ends: tuple[State, ...]) -> Run:
    """What `ran` needs for a run that ended in one of some states."""
    state = draw(st.sampled_from(ends))
    memory, limit = draw(st.sampled_from((*MEMORY, None))), draw(st.sampled_from((*LIMITS, None)))
    span = limit if state is TIMEOUT and limit else draw(st.sampled_from((60, 500, 3000, 20_000)))
    peak = draw(st.sampled_from((None, 100, 900, 4000, 9000)))
    code = draw(st.sampled_from(CODES)) if state is FAILED else None
    return {"state": state, "memory": memory, "limit": limit, "span": span, "peak": peak,
            "code": code}  # fmt: skip


@st.composite
def histories(draw: st.DrawFn, own: int = 0) -> list[Run]:
    """Runs of two users and names, in phases in which mostly one thing happens.

    The last `own` or more are of the user and name that are asked about.
    """
    runs: list[Run] = []
    for left in range(draw(st.integers(1, 4)), -1, -1):
        whose = {"user": draw(st.sampled_from(("ann", "bob"))),
                 "name": draw(st.sampled_from(("align.sh", "sort.sh")))}  # fmt: skip
        if not left and own:
            whose = {"user": "ann", "name": "align.sh"}
        ends = draw(st.sampled_from((
            (DONE,), (FAILED,), (OOM,), (TIMEOUT,), (DONE, FAILED), (DONE, OOM), (OOM, FAILED),
            (DONE, FAILED, OOM, TIMEOUT, NODE),
        )))  # fmt: skip
        same = draw(st.booleans())
        least = 1 if left else max(1, own)
        phase = draw(st.lists(ended(ends), min_size=least, max_size=max(12, own)))
        runs += [{**(phase[0] if same else run), **whose} for run in phase]
    return runs


ASKED = st.fixed_dictionaries({
    "request_memory_mb": st.sampled_from((*MEMORY, None)),
    "time_limit_s": st.sampled_from((*LIMITS, -1, None)),
    "request_nodes": st.sampled_from((1, 3)),
    "request_cpus": st.just(4),
})  # fmt: skip


def like(runs: list[Run]) -> list[Run]:
    """The last runs of the same user and name, with the states that their documents have."""
    own = [run for run in runs if (run["user"], run["name"]) == ("ann", "align.sh")][-LAST:]
    return [{**run, "state": ran(1, 0, **run).state} for run in own]


def failed_for_less(run: Run, asked: Mapping[str, Any]) -> bool:
    """Whether it failed for want of memory or time, and had clearly less than is asked for now."""
    memory, limit = asked["request_memory_mb"], asked["time_limit_s"]
    if run["state"] is OOM:
        had = run["memory"] and max(run["memory"], run["peak"] or 0)
        return bool(had and memory and memory >= MARGIN * had)
    least = MARGIN * max(run["limit"] or 0, run["span"])
    return run["state"] is TIMEOUT and bool(limit) and (limit < 0 or limit >= least)


def never_contradicts(said: dict[str, Any], runs: list[Run], asked: Mapping[str, Any]) -> None:
    own, words = like(runs), worded(said)
    chance, kinds, advice = said["probability"], said["kinds"], said["advice"] or {}
    text, option = advice.get("text", ""), advice.get("option")
    assert 0.0 < chance < 1.0 and list(kinds.values()) == sorted(kinds.values(), reverse=True)
    assert said["kind"] == next(iter(kinds), None)
    assert not kinds or sum(kinds.values()) == pytest.approx(1.0)

    # The kind that the evidence names most is the one that is named.
    counting = [run for run in own if not failed_for_less(run, asked)]
    ends = Counter(run["state"].value for run in counting)
    fails = {kind: count for kind, count in ends.items() if kind != "completed"}
    over = [run for run in own if run["state"] is DONE and exceeds(run, asked)]
    if fails and not over:
        most = max(fails.values())
        assert said["kind"] in [kind for kind, count in fails.items() if count == most]

    # Advice fits the kind that is named, and what is known of runs like it.
    of_program = text.startswith(("fix the program", "find what ended it"))
    if of_program:
        assert said["kind"] == FAILED.value
    elif text:
        prefixes = {OOM.value: "against running out of memory", TIMEOUT.value: "against the time l"}
        memory = "memory" in text.removeprefix("against ")
        wanted = (OOM if memory else TIMEOUT).value
        assert text.startswith(prefixes[wanted]) == (said["kind"] != wanted)
        assert chance * kinds[wanted] >= 0.1
    if said["kind"] == OOM.value and any(run["state"] is OOM for run in counting):
        assert "more memory" in text or "less memory" in text or chance * kinds[OOM.value] < 0.1
    if option and option.startswith("--mem="):
        each = int(option[6:-1]) * (asked["request_nodes"] or 1)
        assert each > (asked["request_memory_mb"] or 0)
        assert all(each >= (run["peak"] or 0) for run in own)
        assert all(each > (run["memory"] or 0) for run in own if run["state"] is OOM)
    elif option:
        hours, minutes, _ = map(int, option.removeprefix("--time=").split(":"))
        seconds = 3600 * hours + 60 * minutes
        assert seconds > (asked["time_limit_s"] or 0) and asked["time_limit_s"] != -1
        assert all(seconds >= run["span"] for run in own)

    # Probability and evidence; of runs that were killed the program is not called the cause.
    if len(counting) >= 8 and all(run["state"] is not DONE for run in counting):
        assert chance > 0.4
    if len(own) == LAST and all(run["state"] is DONE for run in own) and not over:
        # Where they asked for something else, a model may know that this does not suffice.
        assert chance < 0.4 or (
            said["interval"] and any(asked_otherwise(run, asked) for run in own)
        )
    if chance < 0.2:
        assert not re.search(r"\b(all|surely|always)\b", text)
    last = [run for run in own[-3:] if run["state"] is FAILED and run["code"] == 137]
    if len(last) == 3:
        assert not text.startswith("fix the program first") or len({
            run["code"] for run in own}) > 1  # fmt: skip
    assert said["with_advice"] is None or said["with_advice"] < chance
    for found in said["evidence"]:
        assert found["failed"] == sum(found["kinds"].values()) <= found["runs"]
        assert ("none failed" in found["text"]) <= (found["failed"] == 0)
    less = sum(failed_for_less(run, asked) for run in own)
    if less:
        assert f"; {less} of these had less memory or time" in said["evidence"][0]["text"]

    # What is shown is what was answered.
    assert len(words.evidence) == len(said["evidence"]) and bool(words.kinds) == bool(kinds)
    assert (words.advice, words.option) == (text, option or "")


def asked_otherwise(run: Run, asked: Mapping[str, Any]) -> bool:
    memory, limit = asked["request_memory_mb"], asked["time_limit_s"]
    return (run["memory"], run["limit"]) != (memory, limit)


def exceeds(run: Run, asked: Mapping[str, Any]) -> bool:
    memory, limit = asked["request_memory_mb"], asked["time_limit_s"]
    return bool((memory and (run["peak"] or 0) > memory) or (limit and 0 < limit < run["span"]))


def answer(runs: list[Run], asked: Mapping[str, Any], *, trained: bool) -> dict[str, Any]:
    made: list[JobDocument] = list(documents(60)) if trained else []
    # So far apart that they end in their order.
    made += [ran(1000 + n, (1 + n) * 100_000, **run) for n, run in enumerate(runs)]
    answerer = Answerer(table(made), NOW, model() if trained else None)
    script = {"owner": "ann", "name": "align.sh", "scheduler": "slurm", "scheduler_name": "grid"}
    (found,) = answerer.answer(answerer.unsubmitted({**script, "partition": "main", **asked}))
    return found.to_json()


@settings(max_examples=examples(300))
@given(runs=histories(), asked=ASKED)
def test_an_answer_by_rates_never_contradicts_itself(runs: list[Run], asked: Run) -> None:
    never_contradicts(answer(runs, asked, trained=False), runs, asked)


@settings(max_examples=examples(40))
@given(runs=histories(own=LAST), asked=ASKED)
def test_an_answer_by_a_model_never_contradicts_itself(runs: list[Run], asked: Run) -> None:
    never_contradicts(answer(runs, asked, trained=True), runs, asked)
