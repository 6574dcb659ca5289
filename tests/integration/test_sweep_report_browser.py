"""The report of a sweep as a browser shows it: widths, both colour schemes, buttons, print."""

from pathlib import Path

import pytest
from tests.integration.browsers import (
    WIDTHS,
    assert_light_and_dark,
    find_browser,
    measured,
    run_browser,
)
from tests.unit.reports.sweep.sweep_folders import sweep_folder

from jobsight.reports.sweep.report import write_report

MORE = """frame => {
  const inner = frame.contentDocument;
  const faint = () => {
    const lines = inner.querySelector("svg .rest");
    return +frame.contentWindow.getComputedStyle(lines).opacity;
  };
  const before = faint();
  inner.getElementById("show-one").click();
  const after = faint();
  return {
    before, after,
    outside: [...inner.querySelectorAll("figure:not(.wide) svg text")].filter(text => {
      const box = text.getBoundingClientRect();
      const whole = text.closest("svg").getBoundingClientRect();
      return box.left < whole.left - 3 || box.right > whole.right + 3;
    }).map(text => text.textContent),
  };
}"""


@pytest.fixture(scope="module")
def browser() -> str:
    return find_browser()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = sweep_folder(tmp_path_factory.mktemp("sweep") / "night.sweep", 100)
    path = folder.with_suffix(".html")
    write_report(folder, path)
    return path


def test_it_fits_every_width_and_its_buttons_need_no_script(
    browser: str, report: Path, tmp_path: Path
) -> None:
    pages = measured(browser, report, tmp_path, MORE)
    assert [page["asked"] for page in pages] == list(WIDTHS)
    for page in pages:
        assert page["needed"] <= page["asked"]
        assert page["scripts"] == 1
        assert page["height"] > 2000
        assert min(page["pictures"]) > 50
        assert page["outside"] == []
        assert page["before"] > 0.3
        assert page["after"] < 0.1


def test_it_is_light_or_dark_as_its_reader_wants(
    browser: str, report: Path, tmp_path: Path
) -> None:
    assert_light_and_dark(browser, report, tmp_path)


def test_it_prints(browser: str, report: Path, tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    run_browser(browser, tmp_path, f"--print-to-pdf={paper}", report.as_uri())
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size > 50_000
