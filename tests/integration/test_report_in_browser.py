"""The report as a browser shows it, and the verb that writes it."""

from pathlib import Path

import pytest
from tests.integration.browsers import WIDTHS, assert_light_and_dark, find_browser, measured
from tests.support.hold_reports import shown
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.reports.report import write_report

MORE = """frame => {
  const inner = frame.contentDocument, table = inner.querySelector('[id^=the-jobs-held] table');
  const sorted = () => {
    [...table.querySelectorAll("th button")].find(b => b.textContent === "jobs").click();
    return [...table.tBodies[0].rows].map(row => parseInt(row.cells[2].textContent));
  };
  const advice = table.querySelector("tbody td:last-child").getBoundingClientRect().width;
  return {advice, jobs: sorted(), again: sorted()};
}"""


@pytest.fixture(scope="module")
def browser() -> str:
    return find_browser()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, shown(), HOLD_ANSWERS.own_parts(shown()))
    return path


def test_it_fits_every_width_and_runs_nothing(browser: str, report: Path, tmp_path: Path) -> None:
    pages = measured(browser, report, tmp_path, MORE)
    assert [page["asked"] for page in pages] == list(WIDTHS)
    for page in pages:
        assert page["needed"] <= page["asked"]
        assert page["scripts"] == 1
        assert page["height"] > 2000
        assert min(page["pictures"]) > 50
        # On a telephone of 360 pixels too, advice has room for a line of text.
        assert page["advice"] >= 250, [(p["asked"], p["advice"]) for p in pages]
        assert page["jobs"] == sorted(page["jobs"], reverse=True)
        assert page["again"] == sorted(page["jobs"])


def test_it_is_light_or_dark_as_its_reader_wants(
    browser: str, report: Path, tmp_path: Path
) -> None:
    assert_light_and_dark(browser, report, tmp_path)


def test_the_verb_explains_what_it_needs(tmp_path: Path) -> None:
    log, model = tmp_path / "no.log", tmp_path / "model"
    other = tmp_path / "other.json"
    other.write_text('{"question": "fail"}')
    output = tmp_path / "report.html"
    arguments = ["report", "hold", str(log), "--model", str(model), "-o", str(output)]
    for more, told in (
        (["--verified", str(other)], "is not what `jobsight verify hold -o FILE` writes"),
        ([], "model"),
    ):
        result = CliRunner().invoke(app, [*arguments, *more])
        assert told in str(result.exception)
    assert not output.exists()
