"""A file-transfer plug-in of HTCondor that fails when told to; runs inside the pool's root.

URLs are `testbed://ORIGIN/NAME[?bytes=N]`. A download writes N bytes (100 if not said), an upload
writes none. Before each transfer the first existing file of `SITE/ORIGIN`, `SITE/any`,
`any/ORIGIN`, `any/any` is read (in this program's folder; SITE is the machine's `TestbedSite`,
`any` where the access point itself runs the plug-in): JSON with `status` (exit status to fail with;
HTCondor makes it the hold's sub-code, times 256), `message`, `delay` (seconds) and `share` (of
transfers that fail, 0 to 1). No such file: the transfer succeeds.

Protocol: HTCondor manual, "File transfer plugins": `-classad`, or `-infile F -outfile F [-upload]`.
"""

import json
import os
import random
import re
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["main"]

_ABILITIES = """PluginVersion = "1.0"
PluginType = "FileTransfer"
MultipleFileSupport = true
SupportedMethods = "testbed"
"""


def _quoted(text: str) -> str:
    """A ClassAd string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def _site() -> str:
    """The site of the machine ad that the starter left for us."""
    try:
        ad = Path(os.environ["_CONDOR_MACHINE_AD"]).read_text()
    except (KeyError, OSError):
        return "any"
    found = re.search(r'^TestbedSite = "(\w+)"$', ad, re.M)
    return found[1] if found else "any"


def _fault(folder: Path, origin: str) -> dict[str, Any]:
    """What is to go wrong with this origin at this site; empty if nothing."""
    for name in (f"{_site()}/{origin}", f"{_site()}/any", f"any/{origin}", "any/any"):
        try:
            fault: dict[str, Any] = json.loads((folder / name).read_text())
        except FileNotFoundError:
            continue
        return fault
    return {}


def _transfer(folder: Path, url: str, local: str, *, upload: bool) -> tuple[str, int]:
    """Do one transfer: (the result ad, exit status)."""
    parts = urlsplit(url)
    fault = _fault(folder, parts.netloc)
    begun = time.time()
    time.sleep(fault.get("delay", 0))
    status = int(fault.get("status", 0)) if random.random() < fault.get("share", 1) else 0
    size = int(parse_qs(parts.query).get("bytes", ["100"])[0])
    if status == 0 and not upload:
        Path(local).write_bytes(b"x" * size)
    result = {
        "TransferProtocol": '"testbed"',
        "TransferType": '"upload"' if upload else '"download"',
        "TransferUrl": _quoted(url),
        "TransferFileName": _quoted(local),
        "TransferFileBytes": str(0 if status else size),
        "TransferStartTime": str(int(begun)),
        "TransferEndTime": str(int(time.time())),
        "TransferSuccess": "false" if status else "true",
    }
    if status:
        result["TransferError"] = _quoted(fault.get("message", f"origin {parts.netloc} is broken"))
    return "[ " + " ".join(f"{name} = {value};" for name, value in result.items()) + " ]\n", status


def main(arguments: list[str]) -> int:
    """Answer HTCondor; the exit status is the worst of the transfers'."""
    if "-classad" in arguments:
        sys.stdout.write(_ABILITIES)
        return 0
    asked = Path(arguments[arguments.index("-infile") + 1]).read_text()
    urls = re.findall(r'\bUrl\s*=\s*"([^"]*)"', asked)
    files = re.findall(r'\bLocalFileName\s*=\s*"([^"]*)"', asked)
    folder = Path(__file__).resolve().parent
    results = [
        _transfer(folder, url, local, upload="-upload" in arguments)
        for url, local in zip(urls, files, strict=True)
    ]
    Path(arguments[arguments.index("-outfile") + 1]).write_text("".join(ad for ad, _ in results))
    return max((status for _, status in results), default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
