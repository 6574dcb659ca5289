"""A job of a real pool is held: the open page shows it, and what became of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.integration.pageserving import browser, served
from tests.support.limits import limit
from tests.testbed import HtcondorPool

from jobsight.store import open_store

APPEARS_S = 5.0
RELEASES = 8
"""Of earlier jobs with the same cause, all of which succeed: what a release is advised by."""


def _held(pool: HtcondorPool, number: int = 1) -> list[int]:
    """Clusters of one job each that are held for an outage, which is over."""
    pool.fail(origin="lab")
    clusters = [pool.submit(transfer_input_files="testbed://lab/data") for _ in range(number)]
    for cluster in clusters:
        pool.wait_held(cluster)
    pool.mend(origin="lab")
    return clusters


def test_a_hold_appears_and_its_steps_are_run(condor_pool: HtcondorPool, tmp_path: Path) -> None:
    """The command that is run is the one that the page shows."""
    store = tmp_path / "jobs.db"
    open_store(str(store), create=True).close()
    collector = subprocess.Popen(
        [sys.executable, "-m", "jobsight", "collect", "--store", str(store),
         "--event-log", str(condor_pool.event_log)],
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with served(store) as address, browser() as opened:
            page = opened.new_page()
            page.set_default_timeout(limit(60) * 1000)
            earlier = _held(condor_pool, RELEASES)
            for one in earlier:
                condor_pool.release(one)
            for one in earlier:
                condor_pool.wait(one)  # the next outage would hold it again
            page.goto(f"{address}/held")
            # The first hold is answered by kernels that are perhaps compiled for it.
            (first,) = _held(condor_pool)
            shown = page.locator(".decision").filter(has=page.locator(f"text='{first}.0'"))
            shown.wait_for(state="attached")
            condor_pool.release(first)
            shown.wait_for(state="detached")
            condor_pool.wait(first)
            (cluster,) = _held(condor_pool)
            begun = time.monotonic()
            held = page.locator(".decision").filter(has=page.locator(f"text='{cluster}.0'"))
            held.wait_for(state="attached")
            assert time.monotonic() - begun < limit(APPEARS_S)
            command = held.locator(".command pre").last.text_content() or ""
            assert str(cluster) in command
            # A delayed release is run at once: it is what `at` would do later.
            now = re.sub(r'^echo "(.*)" \| .*', r"\1", command)
            subprocess.run(["sh", "-c", now], check=True, env={"PATH": f"{condor_pool.bin}:/bin"})
            held.wait_for(state="detached")
            page.goto(f"{address}/jobs/{cluster}.0")
            page.wait_for_selector("h1 .state.completed")
            assert "released" in page.inner_text(".timeline").lower()
    finally:
        collector.terminate()
        collector.wait(30)
