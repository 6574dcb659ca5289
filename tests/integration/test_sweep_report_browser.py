"""The report of a sweep as a browser shows it: widths, both colour schemes, print."""

from pathlib import Path

from tests.integration.browsers import (
    WIDTHS,
    assert_light_and_dark,
    find_browser,
    measured,
    run_browser,
)
from tests.unit.tuning.studies import TEST, sweep_study

from jobsight.tuning.report import report_html
from jobsight.tuning.sweepdata import Examination, SweepFacts

OUTSIDE = """frame => ({
  outside: [...frame.contentDocument.querySelectorAll("figure svg text")].filter(text => {
    const box = text.getBoundingClientRect();
    const whole = text.closest("svg").getBoundingClientRect();
    return box.left < whole.left - 3 || box.right > whole.right + 3;
  }).map(text => text.textContent),
})"""


def test_it_fits_every_width_is_light_or_dark_and_prints(tmp_path: Path) -> None:
    browser, page, paper = find_browser(), tmp_path / "night.html", tmp_path / "paper.pdf"
    facts = SweepFacts("night", "f1", test=Examination(TEST))
    page.write_text(report_html(sweep_study(60), facts), encoding="utf-8")
    pages = measured(browser, page, tmp_path, OUTSIDE)
    assert [seen["asked"] for seen in pages] == list(WIDTHS)
    for seen in pages:
        assert seen["needed"] <= seen["asked"]
        assert seen["scripts"] == 1
        assert seen["height"] > 2000
        assert min(seen["pictures"]) > 50
        assert seen["outside"] == []
    assert_light_and_dark(browser, page, tmp_path)
    run_browser(browser, tmp_path, f"--print-to-pdf={paper}", page.as_uri())
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size > 50_000
