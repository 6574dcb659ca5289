"""A headless chromium to look at pages with."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.limits import limit

__all__ = ["WIDTHS", "assert_light_and_dark", "find_browser", "measured", "run_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (1200, 800, 360)
"""Of a desk, a tablet and a telephone, in CSS pixels."""
NOTHING_MORE = "frame => ({})"
MEASURE = """<!doctype html><body><pre id="found"></pre>FRAMES<script>
addEventListener("load", () => {
  const more = MORE;
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const inner = frame.contentDocument, page = inner.documentElement;
    return {
      asked: frame.clientWidth, needed: page.scrollWidth, height: page.scrollHeight,
      scripts: inner.scripts.length,
      pictures: [...inner.querySelectorAll("figure svg")]
        .map(svg => svg.getBoundingClientRect().height),
      ...more(frame),
    };
  });
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script></body>"""


def find_browser() -> str:
    """The path of a chromium; installed where this is a Debian machine's root, else skips."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
        subprocess.run(command, check=False, capture_output=True, timeout=limit(600))
        found = shutil.which("chromium")
    if found is None:
        pytest.skip("no chromium here and it cannot be installed: the page was not looked at")
    return found


def run_browser(
    browser: str, home: Path, *arguments: str, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run it once, without a window, with a profile of its own in `home`."""
    fixed = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    where = f"--user-data-dir={home / 'profile'}"
    return subprocess.run(
        [browser, *fixed, where, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=limit(timeout),
    )


def measured(
    browser: str, page: Path, home: Path, more: str = NOTHING_MORE
) -> list[dict[str, Any]]:
    """What a page is like at each of `WIDTHS`.

    Args:
        browser: see `find_browser`.
        page: an HTML file.
        home: a folder to work in.
        more: a JavaScript function of the frame that holds the page: what else to tell.

    Returns:
        for each width: `asked` and `needed` (pixels of width), `height`, `scripts` (how many),
        `pictures` (their heights), and what `more` gave.
    """
    frames = "".join(
        f'<iframe src="{page.as_uri()}" style="width:{width}px;border:0"></iframe>'
        for width in WIDTHS
    )
    wrapper = home / "wrapper.html"
    wrapper.write_text(MEASURE.replace("FRAMES", frames).replace("MORE", more), encoding="utf-8")
    done = run_browser(
        browser,
        home,
        "--allow-file-access-from-files",
        "--virtual-time-budget=8000",
        "--window-size=1400,2000",
        "--dump-dom",
        wrapper.as_uri(),
    )
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    assert found
    return list(json.loads(found[1]))


def assert_light_and_dark(browser: str, page: Path, home: Path) -> None:
    """The page's first screen is light or dark as its reader wants, full of things and without an
    error.
    """
    from PIL import Image

    for scheme, dark in enumerate((True, False)):
        shot = home / f"shot{scheme}.png"
        done = run_browser(
            browser,
            home,
            "--enable-logging=stderr",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--window-size=1200,3000",
            f"--screenshot={shot}",
            page.as_uri(),
        )
        assert "CONSOLE" not in done.stderr
        with Image.open(shot) as picture:
            pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
        assert np.median(pixels) < 50 if dark else np.median(pixels) > 230
        colours, counts = np.unique(pixels[::7], axis=0, return_counts=True)
        assert len(colours) > 100
        assert counts.max() / counts.sum() < 0.95
