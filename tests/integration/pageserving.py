"""A running `jobsight serve`, and a browser that looks at it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from tests.integration.browsers import find_browser
from tests.support.limits import limit

__all__ = ["browser", "served"]


@contextlib.contextmanager
def served(store: Path, *arguments: str, **environment: str) -> Iterator[str]:
    """Serve a store on a free port; its address without the last slash, once it answers.

    Args:
        store: of the service.
        arguments: of ``jobsight serve``, more than its store and address.
        environment: variables besides those of this process.
    """
    command = [sys.executable, "-m", "jobsight", "serve", "--listen", "127.0.0.1:0"]
    log = store.with_suffix(".served")
    with log.open("w") as lines:
        process = subprocess.Popen(
            [*command, "--store", str(store), *arguments],
            stderr=lines,
            env=os.environ | {"XDG_RUNTIME_DIR": str(store.parent)} | environment,
        )
    try:
        deadline = time.monotonic() + limit(120)
        address = None
        while address is None or not _ready(address):
            found = re.search(r'address="?(http://[^"\s]+)', log.read_text())
            address = found and found[1].rstrip("/")
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def _ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/api/v1/health", timeout=30) as reply:
            return bool(json.load(reply)["ready"])
    except OSError:
        return False


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A headless chromium; skips where there is none."""
    path = find_browser()
    with sync_playwright() as started:
        launched = started.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()
