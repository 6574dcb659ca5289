"""Processes that analyse scripts: taken in turn, shared by users, ended with their tasks."""

import asyncio
import time
from typing import Any

import pytest
from tests.support.limits import limit

from jobsight.errors import SourceError
from jobsight.program.limited import LimitError, limited
from jobsight.program.preflight.check import Checker
from jobsight.service.web.analysis import Analysts
from jobsight.service.web.guards import RefusedError

QUICK = "#!/bin/bash\n#SBATCH --memory=4G\nsleep 60\n"
ENDLESS = "#!/bin/bash\n" + "".join(f"f{n}() {{ f{n + 1}; }}\nx{n}\n" for n in range(20_000))
"""Takes until a limit: functions and commands, each compared with each."""


def check(text: str) -> dict[str, Any]:
    return {"do": "check", "name": "a.sh", "text": text, "options": [], "ignored": []}


async def until(condition: Any) -> None:
    deadline = time.monotonic() + limit(30)
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


@pytest.mark.slow
def test_a_task_that_is_cancelled_ends_and_gives_its_turn_to_the_next() -> None:
    async def used() -> None:
        analysts = Analysts(2, 3)
        first = asyncio.create_task(analysts.ask("ann", check(ENDLESS)))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(analysts.ask("ann", check(QUICK)))
        await asyncio.sleep(0)
        with pytest.raises(RefusedError) as refused:
            await analysts.ask("ann", check(QUICK))
        assert refused.value.status_code == 429
        other = await analysts.ask("bob", check(QUICK))  # is served at once
        assert [one["code"] for one in other["findings"]][:1] == ["JS201"]
        assert not first.done() and not waiting.done()
        first.cancel()
        assert (await waiting) == other
        assert first.cancelled()
        await analysts.close()

    asyncio.run(used())


def test_a_caller_that_goes_as_its_turn_comes_does_not_block_others() -> None:
    class Answers(Analysts):
        """Answers without a process, when the event is set."""

        async def _answered(self, task: Any) -> Any:
            await task["until"].wait()
            return "answered"

    async def used() -> None:
        analysts, ended = Answers(1, 2), asyncio.Event()
        first = asyncio.create_task(analysts.ask("ann", {"until": ended}))
        waiting = asyncio.create_task(analysts.ask("bob", {"until": ended}))
        await asyncio.sleep(0)
        ended.set()  # the turn of the second would come before it learns that it is cancelled
        waiting.cancel()
        assert await first == "answered"
        async with asyncio.timeout(limit(10)):
            assert await analysts.ask("cec", {"until": ended}) == "answered"
        assert waiting.cancelled()

    asyncio.run(used())


@pytest.mark.slow
def test_a_full_queue_refuses() -> None:
    async def used() -> None:
        analysts = Analysts(1, 2)
        tasks = [asyncio.create_task(analysts.ask(one, check(QUICK))) for one in "abc"]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError) as refused:
            await analysts.ask("d", check(QUICK))
        assert refused.value.status_code == 503
        assert len({str(one) for one in await asyncio.gather(*tasks)}) == 1
        await analysts.close()

    asyncio.run(used())


@pytest.mark.slow
def test_errors_come_back_and_the_process_stays() -> None:
    async def used() -> None:
        analysts = Analysts(1, 2)
        with pytest.raises(SourceError, match="zero byte"):
            await analysts.ask("ann", check("a\0b"))
        assert await analysts.ask("ann", check(QUICK))
        (process,) = analysts._idle
        await analysts.close()
        assert process.returncode

    asyncio.run(used())


def test_a_script_that_takes_too_long_has_one_finding_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobsight.program.limited.CPU_S", 0.2)
    found = Checker(shellcheck=False).sent("a.sh", ENDLESS).findings
    assert [one.code for one in found if one.code == "JS012"] == ["JS012"]
    assert "stopped after" in next(one.message for one in found if one.code == "JS012")


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobsight.program.limited.MEMORY_MB", 64)
    with pytest.raises(LimitError, match="64 MiB of memory"), limited():
        bytearray(256 << 20)
    assert len(bytearray(256 << 20)) == 256 << 20
