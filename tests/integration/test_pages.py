"""The pages as a browser shows them, of jobs of a real pool and of hostile ones."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page
from playwright.sync_api import Request as Request_
from tests.integration.pageserving import browser as opened
from tests.integration.pageserving import served
from tests.support.limits import limit
from tests.support.storedjobs import filled, job, told
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import Prediction, Request, State, Submission, slurm_id

pytestmark = pytest.mark.slow

POOL = Path(__file__).parents[2] / "data" / "pool-a.log.gz"
SAMPLE = POOL.with_name("samples") / "sacct.psv"
UNTIL = b" 2026-11-21 01:10:"
HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e{{ 7*7 }}'
SCRIPT = '#!/bin/bash\n#SBATCH --memory=4G\npython3 fit.py\necho "open\n'
AXE = "axe-core@4.14.1"
LARGEST = 150_000
"""Bytes of a page and all that it loads."""
FIRST_PAINT_MS = 2000.0
"""Of any machine that runs the tests."""
PAINTED = """new Promise(done => new PerformanceObserver(list => {
  for (const one of list.getEntriesByName("first-contentful-paint")) done(one.startTime)
}).observe({type: "paint", buffered: true}))"""
PAGES = ("/", "/held", "/outages?hours=168", "/pending", "/jobs", "/ask", "/models", "/collectors",
         "/login")  # fmt: skip
JOBS = ("/jobs/slurm:demo:900", "/jobs/slurm:demo:101")
SIZES: tuple[tuple[int, Literal["dark", "light"]], ...] = ((360, "dark"), (1440, "light"))


def _fill(store: Path) -> None:
    """Jobs of a pool in the midst of its troubles, of a Slurm cluster, and hostile ones."""
    log = store.with_suffix(".log")
    text = gzip.decompress(POOL.read_bytes())
    log.write_bytes(text[: text.rindex(b"\n...\n", 0, text.index(UNTIL)) + 5])
    for file in (log, SAMPLE):
        done = CliRunner().invoke(app, ["import", str(file), "--store", str(store)])
        assert done.exit_code == 0, done.output
    said = {"answer": "<b>wait</b>", "probability": 0.4}
    document = job(
        slurm_id("demo", "900"),
        told(0, State.PENDING, reason=HOSTILE, word="PENDING"),
        submission=Submission(
            user=HOSTILE[:60], name=HOSTILE, script=SCRIPT, command="fit.sh", line=HOSTILE
        ),
        request=Request(cpus=4, time_limit_s=3600, memory_mb=512),
        predictions=(Prediction(question="fail", model=HOSTILE, time=1, inputs="00", answer=said),),
    )
    filled(store, [document])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = tmp_path_factory.mktemp("pages") / "jobs.db"
    _fill(store)
    with served(store) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened() as found:
        yield found


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, which npm fetches."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here: axe-core cannot be fetched")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--no-save", "--silent", "--prefix", str(folder), AXE]
    done = subprocess.run(command, check=False, capture_output=True, timeout=limit(120))
    if done.returncode:
        pytest.skip(f"npm cannot fetch {AXE}: {done.stderr.decode()[-200:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


@contextlib.contextmanager
def page_of(browser: Browser, **how: Any) -> Iterator[Page]:
    """A page of a browser of its own; it may say nothing on its console, errors least of all."""
    context = browser.new_context(**how)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_default_timeout(limit(30) * 1000)
    yield page
    context.close()
    assert [line for line in said if "Password forms" not in line] == []


def _received(page: Page) -> list[Request_]:
    """The requests of a page that are answered, from now on."""
    found: list[Request_] = []
    page.on("requestfinished", lambda one: found.append(one))  # noqa: PLW0108
    return found


def test_every_page_is_small_quick_and_within_reach(
    browser: Browser, address: str, axe: str
) -> None:
    for path in (*PAGES, *JOBS):
        with page_of(browser, reduced_motion="reduce") as page:
            received = _received(page)
            page.goto(address + path, wait_until="load")
            assert sum(one.sizes()["responseBodySize"] for one in received) < LARGEST
            # Again: what answers take the first time is not the page's.
            reply = page.goto(address + path, wait_until="load")
            assert reply is not None and reply.status == 200
            assert page.locator("h1").count() == 1
            assert page.evaluate(PAINTED) < limit(FIRST_PAINT_MS)
            page.evaluate(axe)
            for width, scheme in SIZES:
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                # Charts are drawn anew when they have seen that they are smaller.
                page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")
                found = page.evaluate("axe.run()")["violations"]
                serious = [one for one in found if one["impact"] in ("serious", "critical")]
                assert serious == [], (path, width, json.dumps(serious)[:2000])


def test_hostile_text_stays_text(browser: Browser, address: str) -> None:
    for path in (JOBS[0], "/pending", "/jobs?state=pending"):
        with page_of(browser) as page:
            page.goto(address + path)
            assert "<script>alert(1)</scr" in page.inner_text("main")
            assert "{{ 7*7 }}" in page.inner_text("main") or path != JOBS[0]
            assert page.title() != "1"
            assert page.locator("main img, main script, main b:text-is('wait')").count() == 0
            assert "\u202e" not in page.content()


def test_a_page_is_read_without_scripts(browser: Browser, address: str) -> None:
    with page_of(browser, java_script_enabled=False) as page:
        page.goto(f"{address}/held")
        decisions = page.locator(".decision")
        assert decisions.count() >= 3
        assert page.locator(".decision[open] pre").first.inner_text().strip()
        assert page.locator("[data-copy]:visible").count() == 0
        page.locator(".decision").nth(3).locator("> summary").click()
        assert page.locator(".decision").nth(3).locator(".reason").is_visible()
        page.goto(f"{address}/jobs")
        page.select_option("#state", "timeout")
        page.click("main button")
        assert set(page.locator("td .state").all_inner_texts()) == {"timeout"}
        page.locator("th a").first.click()
        assert page.locator("h1").inner_text().startswith("Job ")
        page.goto(f"{address}/ask")
        page.fill("#text", SCRIPT)
        page.click("main button")
        assert "--memory is not an option of sbatch" in page.inner_text("tr.error >> nth=0")


def test_a_script_is_answered_in_place(browser: Browser, address: str) -> None:
    with page_of(browser) as page:
        page.goto(f"{address}/ask")
        page.fill("#text", SCRIPT)
        page.fill("#options", "--partition=main")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("#findings")
        assert page.locator("tr.error").first.inner_text().startswith("2")
        assert page.locator("article h3").all_inner_texts()[:1] == ["Will it fail?"]
        assert page.input_value("#text") == SCRIPT


def test_steps_are_copied(browser: Browser, address: str) -> None:
    with page_of(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{address}/held")
        command = page.locator(".command pre").first.text_content()
        page.locator("[data-copy]").first.click()
        page.wait_for_function("document.getElementById('news').textContent")
        assert page.evaluate("navigator.clipboard.readText()") == command
        assert command is not None and "condor_" in command


def test_one_cause_is_one_decision(browser: Browser, address: str) -> None:
    with urllib.request.urlopen(f"{address}/api/v1/held", timeout=60) as reply:
        groups = json.load(reply)
    groups = groups["groups"] if isinstance(groups, dict) else groups
    with page_of(browser) as page:
        page.goto(f"{address}/held")
        shown = page.locator(".decision .what > b").all_inner_texts()
        assert sum(int(one.split()[0]) for one in shown) == sum(one["jobs"] for one in groups)
        assert len(shown) < len(groups)
        gains = [one.replace("–", "0") for one in page.locator(".gain b").all_inner_texts()]
        assert [float(one) for one in gains] == sorted(map(float, gains), reverse=True)


def test_errors_are_pages(browser: Browser, address: str) -> None:
    for path, status, words in (
        ("/jobs/slurm:demo:12345", 404, "Not found"),
        ("/jobs/nonsense", 422, "not a job id"),
        ("/nothing", 404, "Not found"),
        ("/jobs?after=x", 422, "cursor"),
    ):
        context = browser.new_context()
        page = context.new_page()
        reply = page.goto(address + path)
        assert reply is not None and reply.status == status
        assert words in page.inner_text("main")
        assert page.locator("nav a").count() >= 7
        context.close()
