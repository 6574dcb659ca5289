"""A headless chromium to look at pages with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["find_browser", "run_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str:
    """The path of a chromium; installed where this is a Debian machine's root, else skips."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
        subprocess.run(command, check=False, capture_output=True, timeout=600)
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
        timeout=timeout,
    )
