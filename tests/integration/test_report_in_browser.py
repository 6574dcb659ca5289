"""The report as a browser shows it, and the verb that writes it."""

from pathlib import Path

import numpy as np
import pytest
from tests.browsers import WIDTHS, find_browser, measured, run_browser
from tests.hold_reports import material
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.questions.hold.reporting.report import write_report


@pytest.fixture(scope="module")
def browser() -> str:
    return find_browser()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, material())
    return path


def test_it_fits_every_width_and_runs_nothing(browser: str, report: Path, tmp_path: Path) -> None:
    pages = measured(browser, report, tmp_path)
    assert [page["asked"] for page in pages] == list(WIDTHS)
    for page in pages:
        assert page["needed"] <= page["asked"]
        assert page["scripts"] == 0
        assert page["height"] > 2000
        assert min(page["pictures"]) > 50


def test_it_renders_without_complaint(browser: str, report: Path, tmp_path: Path) -> None:
    shot = tmp_path / "shot.png"
    done = run_browser(
        browser,
        tmp_path,
        "--enable-logging=stderr",
        "--window-size=1200,3000",
        f"--screenshot={shot}",
        report.as_uri(),
    )
    assert "CONSOLE" not in done.stderr
    from PIL import Image

    with Image.open(shot) as picture:
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    colours, counts = np.unique(pixels[::7], axis=0, return_counts=True)
    assert len(colours) > 50
    assert counts.max() / counts.sum() < 0.95


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
