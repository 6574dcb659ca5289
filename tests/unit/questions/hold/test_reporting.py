from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.support.histories import micros, table
from tests.support.hold_models import (
    EXITED,
    MEMORY,
    Cause,
    answered,
    constant_model,
    held,
    history,
    released,
)
from tests.support.hold_reports import HOSTILE, shown, shown_jobs

from jobsight.errors import OutputError
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.learning.bootstrap import Interval
from jobsight.learning.evaluation import evaluate_all
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.questions.hold.examples.decisions import hold_decisions
from jobsight.questions.hold.reporting import jobs_part, later_outcomes, richest_moment
from jobsight.questions.hold.settings import HoldSettings
from jobsight.reports.report import report_html, write_report
from jobsight.reports.shown import Shown

VOID = {"br", "col", "hr", "meta"}
OURS = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section", "footer",
    "h1", "h2", "h3", "p", "a", "div", "span", "strong", "br", "code", "ul", "li", "dl", "dt", "dd",
    "script", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption",
    "details", "summary", "svg", "g", "path", "defs", "use", "rect", "text", "tspan", "image",
    "clippath",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects what a browser would see: elements, attributes, text; checks that all is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def html_of(given: Shown) -> str:
    return report_html(given, HOLD_ANSWERS.own_parts(given))


@pytest.fixture(scope="module")
def page() -> str:
    return html_of(shown())


def test_nothing_hostile_becomes_markup(page: str) -> None:
    reader = read(page)
    assert {tag for tag, _ in reader.elements} <= OURS
    names = {name for _, attributes in reader.elements for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    text = "".join(reader.text)
    assert "<script>alert(1)</script>" in text
    assert not re.search("[\u0000\u001b\u202a-\u202e\ud800-\udfff]", page)
    assert "你好" in text


def test_the_page_allows_its_own_script_alone_and_no_request(page: str) -> None:
    reader = read(page)
    policies = [
        attributes["content"]
        for tag, attributes in reader.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,) = re.findall("<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policies == [
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'"
    ]
    assert [tag for tag, _ in reader.elements].count("script") == 1
    targets = [
        attributes[name] or ""
        for _, attributes in reader.elements
        for name in ("href", "src", "xlink:href")
        if name in attributes
    ]
    assert targets
    assert all(target.startswith(("#", "data:image/png;base64,")) for target in targets)
    assert "url(http" not in page
    assert "@import" not in page


def test_links_and_ids_within_the_page_fit(page: str) -> None:
    elements = read(page).elements
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in elements:
        for name in ("href", "xlink:href"):
            target = attributes.get(name) or ""
            assert not target.startswith("#") or target[1:] in ids
    for found in re.findall(r"url\(#([^)]+)\)", page):
        assert found in ids


def test_pictures_have_words(page: str) -> None:
    pictures = [attributes for tag, attributes in read(page).elements if tag == "svg"]
    assert len(pictures) >= 9
    assert all(picture.get("role") == "img" and picture.get("aria-label") for picture in pictures)


def test_the_report_says_what_it_found(page: str) -> None:
    text = " ".join("".join(read(page).text).split())
    assert "About these data. Made up." in text
    assert "Asked about the 3 jobs held at 2026-11-21 00:33:20Z, it says: release 3." in text
    assert "condor_release" in text
    assert "What the log records later: 1 was released, 1 of them succeeded." in text
    assert "constant (baseline, answers)" in text
    for word in ("ROC AUC", "Brier", "ECE", "log loss", "F1 of failures", "always release"):
        assert word in text
    assert "passedover time" in text
    assert "than the best baseline's cost" in text
    assert "itself the best baseline" in text


def test_the_headline_compares_with_the_best_baseline() -> None:
    given = shown()
    constant = given.evaluation.costs["constant"]
    found = {
        "constant": replace(constant, cost=0.5, against_baseline=Interval(0.1, -0.05, 0.25)),
        "rates": replace(constant, cost=0.4),
        "always_release": replace(constant, cost=2.0),
    }
    evaluations = {"outcome": replace(given.evaluation, costs=found)}
    page = html_of(replace(given, evaluations=evaluations))
    text = " ".join("".join(read(page).text).split())
    assert "25 %more than the best baseline's cost" in text
    assert "per decision 0.50 wasted runs, rates 0.40: +0.10 (-0.05 to +0.25)" in text


def advice_of(rate: float, *, later: float, cause: Cause) -> str:
    """The text of the report's part on a job held at second 10, asked about at second 20."""
    of = history(held(10, 1, cause=cause))
    moment = micros(20)
    answers = answered(of, moment, constant_model(rate, delays={90.0: later}))
    part = jobs_part(shown_jobs(history=of, moment=moment, answers=answers, later={}))
    return "".join(read(str(part)).text)


def test_advice_is_shown_in_steps_with_what_a_wait_is_worth() -> None:
    fix = advice_of(0.05, later=0.05, cause=MEMORY)
    steps = ["1. set RequestMemory", "condor_qedit", "2. then release it", "condor_release"]
    places = [fix.index(step) for step in steps]
    assert places == sorted(places)
    wait = advice_of(0.3, later=0.9, cause=EXITED)
    assert "until 2026-11-21 00:01:50Z, then release it: 90 % (85–95 %) to succeed then" in wait
    assert "TZ=UTC at -t 202611210002" in wait


def test_access_points_are_kept_apart() -> None:
    rows = [
        row | {"log": log, "access_point": name}
        for log, name in enumerate(("ap1", "ap2"))
        for row in held(10, 1)
    ]
    of = History.from_table(table(rows))
    moment = micros(20)
    answers = answered(of, moment, constant_model(0.9))
    # Only the job of ap2 is known to have succeeded.
    later = {("ap2", "1.0"): True}
    made = shown_jobs(history=of, moment=moment, answers=answers, later=later)
    text = "".join(read(str(jobs_part(made))).text)
    for name in ("ap1", "ap2"):
        assert f"of cluster 1 on {name}" in text
        assert f"condor_release -name {name} 1.0" in text
    assert text.count("What the log records later: 1 was released, 1 of them succeeded.") == 1


def test_the_same_material_gives_the_same_bytes(page: str) -> None:
    assert html_of(shown()) == page


def test_parts_without_material_are_left_out() -> None:
    text = "".join(read(html_of(shown(verification=None))).text)
    assert "Can this be trusted?" not in text
    assert "What the pool looked like" in text


def test_outcomes_of_one_kind_have_no_curves() -> None:
    failed = history(*(released(100 * k, k, good=False, cause=MEMORY) for k in range(1, 13)))
    evaluations = evaluate_all(constant_model(0.6, frames={"m": 6, "j": 3}), failed)
    text = "".join(read(html_of(shown(evaluations=evaluations))).text)
    assert "the diagonal is chance" not in text
    assert "the diagonal is chance" in "".join(read(html_of(shown())).text)


def test_a_moment_at_which_nothing_is_held() -> None:
    assert "No job was held at that moment." in str(jobs_part(shown_jobs(answers=(), later={})))


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    write_report(path, shown(), HOLD_ANSWERS.own_parts(shown()))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        write_report(tmp_path / "file" / "report.html", shown(), HOLD_ANSWERS.own_parts(shown()))


def test_hostile_text_is_hostile() -> None:
    assert "<script>" in HOSTILE
    assert "\u202e" in HOSTILE


def mixed() -> History:
    """At 100 one job that will fail is held, at 200 to 202 one of each, at 300 two that fail."""
    return history(
        released(100, 1, good=False),
        released(200, 2, good=True),
        released(200, 3, good=False),
        released(300, 4, good=False),
        released(300, 5, good=False),
    )


def test_the_moment_is_that_of_the_most_various_fates() -> None:
    history = mixed()
    table = hold_decisions(history, HoldSettings(), label_rows(history)).table
    assert richest_moment(table, 0) == micros(200)
    assert richest_moment(table, micros(250)) == micros(300)
    assert richest_moment(table, micros(201)) == micros(300)
    assert richest_moment(table, micros(400)) is None
    assert richest_moment(table.clear(), 0) is None


def test_later_outcomes_are_those_of_the_jobs_held_then() -> None:
    history = mixed()
    table = hold_decisions(history, HoldSettings(), label_rows(history)).table
    assert later_outcomes(table, micros(201)) == {("ap", "2.0"): True, ("ap", "3.0"): False}
    assert later_outcomes(table, micros(202)) == {}
