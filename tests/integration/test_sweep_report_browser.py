"""The report of a sweep as a browser shows it: widths, both colour schemes, buttons, print."""

from pathlib import Path

import numpy as np
import pytest
from tests.browsers import WIDTHS, find_browser, measured, run_browser
from tests.sweep_folders import sweep_folder

from jobsight.questions.sweeps.report import write_report

MORE = """frame => {
  const inner = frame.contentDocument;
  const faint = () => {
    const line = inner.querySelector(".lines a path.c0");
    return +frame.contentWindow.getComputedStyle(line).strokeOpacity;
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
        assert page["scripts"] == 0
        assert page["height"] > 2000
        assert min(page["pictures"]) > 50
        assert page["outside"] == []
        assert page["before"] > 0.3
        assert page["after"] < 0.1


def pixels(browser: str, report: Path, home: Path, scheme: int) -> np.ndarray:
    """Pixels of the first screen in a colour scheme: 0 dark, 1 light."""
    from PIL import Image

    shot = home / f"shot{scheme}.png"
    done = run_browser(
        browser,
        home,
        "--enable-logging=stderr",
        f"--blink-settings=preferredColorScheme={scheme}",
        "--window-size=1200,3000",
        f"--screenshot={shot}",
        report.as_uri(),
    )
    assert "CONSOLE" not in done.stderr
    with Image.open(shot) as picture:
        return np.asarray(picture.convert("RGB")).reshape(-1, 3)


def test_it_is_light_or_dark_as_its_reader_wants(
    browser: str, report: Path, tmp_path: Path
) -> None:
    dark, light = (pixels(browser, report, tmp_path, scheme) for scheme in (0, 1))
    assert np.median(light) > 230
    assert np.median(dark) < 50
    for shown in (dark, light):
        colours, counts = np.unique(shown[::7], axis=0, return_counts=True)
        assert len(colours) > 100
        assert counts.max() / counts.sum() < 0.95


def test_it_prints(browser: str, report: Path, tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    run_browser(browser, tmp_path, f"--print-to-pdf={paper}", report.as_uri())
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size > 50_000
