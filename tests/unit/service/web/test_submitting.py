"""Answers to submissions: read from bytes of any kind, in time, about the caller alone."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.support.limits import limit
from tests.support.serving import client, site
from tests.support.storedjobs import HOSTILE, SECOND, START, job, told

from jobsight.clock import now_micros
from jobsight.documents import JobDocument, Request, State, slurm_id
from jobsight.documents import Submission as Submitted
from jobsight.errors import SourceError, UsageError
from jobsight.service.web.guards import RefusedError
from jobsight.service.web.submitting import Submission, Submissions
from jobsight.service.web.tokens import Caller

ANN = Caller("ann", "user")
SCRIPT = "#!/bin/bash\n#SBATCH --mem=1G\npython3 fit.py\n"


def body(
    options: dict[str, Any] | None = None, script: str = SCRIPT, folder: str = "/home"
) -> bytes:
    given = {"argv": ["/home/fit.sh"]} if options is None else options
    return f"{folder}\n{json.dumps(given)}\n{script}".encode()


def finding(**changed: Any) -> dict[str, Any]:
    found = {"severity": "error", "file": "fit.sh", "line": 3, "message": "no such file",
             "fix": None, "code": "JS101"}  # fmt: skip
    return found | changed


def asked(check: Callable[..., Awaitable[Any]], *bodies: bytes) -> list[list[str]]:
    """What is shown for each of some submissions, one after another, where nothing is predicted."""

    async def ask() -> list[list[str]]:
        submissions = Submissions(check, lambda: None)
        return [await submissions.lines(ANN, one) for one in bodies]

    return asyncio.run(ask())


def test_options_are_those_that_slurm_has_in_force() -> None:
    options = {
        "mem": "4G", "time": "01:00:00", "hold": "set", "nodes": "unset", "spank:x": "1",
        "gres": None, "argv": ["/data/fit.sh", "--mem=9G"], "job-name": "a\n--mem=8G",
        "open-mode": "a",
    }  # fmt: skip
    sent = Submission.read(body(options))
    assert (sent.path, sent.text) == ("/data/fit.sh", SCRIPT)
    wanted = ("--chdir=/home", "--mem=4G", "--time=01:00:00", "--job-name=a\n--mem=8G")
    assert sent.options == wanted
    assert "--chdir=/elsewhere" in Submission.read(body({"chdir": "/elsewhere"})).options
    wrapped = Submission.read(body({"wrap": "sleep 1", "argv": []}, script=""))
    assert (wrapped.path, wrapped.text) == ("wrap", "#!/bin/sh\nsleep 1\n")
    assert not any("wrap" in option for option in wrapped.options)
    assert Submission.read(body({"argv": []}, script="")).path == "sbatch"


@given(st.binary() | st.builds(lambda head, rest: b"/\n" + head + b"\n" + rest,
                               st.sampled_from([b"{}", b"[]", b'{"argv":1}', b'{"argv":[]}',
                                                b'{"wrap":1,"argv":[null]}', b'{"mem":"\\ud800"}']),
                               st.binary()))  # fmt: skip
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        Submission.read(data)
    except UsageError:
        return


def test_errors_are_shown_in_ascii_and_warnings_are_not() -> None:
    findings = [
        finding(message=HOSTILE, fix="ask – for é"),
        finding(severity="warning", message="never"),
        *[finding(line=number) for number in range(10, 18)],
    ]

    async def check(who: Caller, *sent: Any) -> Any:
        assert (who, sent[:2]) == (ANN, ("/home/fit.sh", SCRIPT))
        return {"file": "fit.sh", "findings": findings}

    [lines] = asked(check, body())
    assert lines[0] == "jobsight: fit.sh:3: [2J ]0;x evil 31m next (ask - for ?) [JS101]"
    assert lines[1] == "jobsight: fit.sh:10: no such file [JS101]"
    assert len(lines) == 6
    assert lines[-1] == "jobsight: 4 more errors: jobsight check fit.sh"
    assert all(line.isascii() and line.isprintable() for line in lines)


@pytest.mark.parametrize("error", [SourceError("too large"), RefusedError(503, "too many")])
def test_what_fails_is_left_out(error: Exception) -> None:
    async def check(*_: Any) -> Any:
        raise error

    assert asked(check, body()) == [[]]


def test_what_is_late_is_left_out_and_the_next_ones_are_not_begun() -> None:
    begun = 0

    async def check(*_: Any) -> Any:
        nonlocal begun
        begun += 1
        await asyncio.sleep(3600)

    async def ask() -> None:
        submissions = Submissions(check, lambda: None)
        started = time.monotonic()
        for number in range(8):
            assert await submissions.lines(ANN, body(script=f"{SCRIPT}{number}\n")) == []
        assert await submissions.lines(ANN, body()) == []
        assert begun == 8
        assert await submissions.lines(Caller("bob", "user"), body()) == []
        assert begun == 9
        assert time.monotonic() - started < limit(9 * 0.3)

    asyncio.run(ask())


def test_the_same_submission_is_answered_once() -> None:
    calls: list[Sequence[Any]] = []

    async def check(*sent: Any) -> Any:
        calls.append(sent)
        return {"file": "fit.sh", "findings": [finding()]}

    first, again, other = asked(check, body(), body(), body({"argv": ["/x"]}))
    assert first == again == other
    assert len(calls) == 2


def run_of(number: int, user: str, *states: tuple[float, State], cpus: int = 1) -> JobDocument:
    """A job of a user's that had these states, so many seconds after `START`."""
    return job(
        slurm_id("grid", str(number)),
        *(told(at, state) for at, state in states),
        user=user,
        submission=Submitted(user=user, name="fit.sh"),
        request=Request(cpus=cpus, nodes=1, memory_mb=1024, time_limit_s=3600, partition="main"),
    )


def ended(number: int, user: str, state: State, at: float = 0) -> JobDocument:
    """A job that waited for a minute and ran for an hour."""
    return run_of(
        number, user, (at, State.PENDING), (at + 60, State.RUNNING), (at + 3660, state), cpus=4
    )


def answered(client: TestClient, wanted: str, sent: bytes) -> str:
    """The answer once a text is in it: on a busy machine it may be late."""
    deadline = time.monotonic() + limit(60)
    while wanted not in (text := client.post("/api/v1/submission", content=sent).text):
        assert time.monotonic() < deadline, text
    return text


def test_a_risk_is_shown_to_the_user_who_has_it(tmp_path: Path) -> None:
    failed = [ended(number, "ann", State.OUT_OF_MEMORY) for number in range(12)]
    succeeded = [ended(number, "bob", State.COMPLETED) for number in range(12, 24)]
    served = site(tmp_path, [*failed, *succeeded])
    with client(served, "ann") as ann:
        assert answered(ann, "to fail", body()).startswith("jobsight: ")
        assert ann.post("/api/v1/submission", content=b"nonsense").status_code == 422
        ann.headers["authorization"] = f"Bearer {served.tokens.add('bob', 'user', 1)}"
        assert ann.post("/api/v1/submission", content=body()).text == ""
        del ann.headers["authorization"]
        assert ann.post("/api/v1/submission", content=body()).status_code == 401


def test_the_expected_start_is_shown_where_the_job_has_to_wait(tmp_path: Path) -> None:
    now = (now_micros() - START) / SECOND
    before = [ended(number, "ann", State.COMPLETED, now - 90_000 + 4000 * number)
              for number in range(20)]  # fmt: skip
    runs = run_of(100, "bob", (now - 2000, State.PENDING), (now - 1000, State.RUNNING), cpus=4)
    queue = [run_of(101 + k, "bob", (now - 900 + k, State.PENDING), cpus=4) for k in range(4)]
    options = {"argv": ["/home/fit.sh"], "partition": "main", "cpus-per-task": "4", "nodes": "1"}
    with client(site(tmp_path, [*before, runs, *queue]), "ann") as ann:
        text = answered(ann, "likely starts in", body(options))
    assert re.fullmatch(r"jobsight: likely starts in [\d.]+ h( \(.+ to .+\))?\n", text)
