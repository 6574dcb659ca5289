"""HTCondor's tools as programs that print what they are told."""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = """#!{python}
import json, os, sys
from pathlib import Path
here = Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([Path(sys.argv[0]).name, *sys.argv[1:]]) + "\\n")
(here / "environment").write_text(json.dumps(dict(os.environ)))
answer = here / (Path(sys.argv[0]).name + ".answer")
sys.stdout.buffer.write(answer.read_bytes() if answer.exists() else b"")
trouble = here / "trouble"
if trouble.exists():
    sys.exit(trouble.read_text())
"""


class Tools:
    """The tools of one folder, and how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("condor_q", "condor_history", "condor_config_val"):
            (folder / name).write_text(TOOL.format(python=sys.executable))
            (folder / name).chmod(0o755)

    def answer(self, tool: str, ads: list[dict[str, Any]] | bytes) -> None:
        data = ads if isinstance(ads, bytes) else json.dumps(ads).encode()
        (self.folder / f"{tool}.answer").write_bytes(data)

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]
