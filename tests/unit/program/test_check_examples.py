"""The examples of ``tests/check``: small jobs, and what ``jobsight check`` finds in each.

``tests/check/JS404.yaml`` is about the rule JS404: a list of examples, a faulty one next to a sound
one like it. Each is a mapping:

    why:     what the example shows, one line.
    files:   names and texts. A text that begins with ``#!`` may be executed; a name that ends with
             ``/`` is a folder.
    check:   arguments of ``jobsight check``; without it, the first file. ShellCheck is left out
             unless ``--shellcheck`` is among them.
    site:    what the scheduler says: names of files and texts (see `jobsight.program.site`), or
             ``demo``, which is `tests.unit.program.checking.SITE`. Without it, nothing.
    expect:  the findings, each with its ``line`` and, where it is not in the first file, ``file``;
             ``code`` where it is not the rule's; ``severity`` and ``fix`` where they matter.
    hints:   ``ok``: warnings of the rule that are not expected do no harm.

Every finding of the rule must be expected, and every error of any rule; warnings of other rules are
not looked at. Texts are in block style (``|``), so that their lines are counted as in a file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.unit.program.checking import SITE, written
from typer.testing import CliRunner

from jobsight.cli.main import app

FOLDER = Path(__file__).parents[2] / "check"
KEYS = {"why", "files", "check", "site", "expect", "hints"}

Example = dict[str, Any]


def examples() -> list[Any]:
    """All examples, named after rule and line."""
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        listed = YAML().load(path)
        for at, one in enumerate(listed):
            name = f"{path.stem}:{listed.lc.item(at)[0] + 1}"
            found.append(pytest.param(path.stem, one, id=name))
    return found


def checked(one: Example) -> list[dict[str, Any]]:
    """What ``jobsight check`` finds in an example whose files are written to this folder."""
    for name, text in one["files"].items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.write_text(text)
            path.chmod(0o755 if text.startswith("#!") else 0o644)
    words = ["--no-shellcheck", *map(str, one.get("check", [next(iter(one["files"]))]))]
    if site := one.get("site"):
        folder = Path("../site")
        folder.mkdir()
        text = SITE if site == "demo" else "".join(f"=== {k}\n{v}" for k, v in site.items())
        words += ["--site", str(written(folder, "", text))]
    ended = CliRunner().invoke(app, ["check", "--json", *words])
    assert ended.exit_code in (0, 1), ended.output
    reports = json.loads(ended.stdout)
    reports = reports if isinstance(reports, list) else [reports]
    return [finding for report in reports for finding in report["findings"]]


@pytest.mark.parametrize(("rule", "one"), examples())
def test_example(rule: str, one: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one.keys() <= KEYS, "an unknown key"
    (tmp_path / "job").mkdir()
    monkeypatch.chdir(tmp_path / "job")
    left = [
        finding for finding in checked(one)
        if finding["severity"] == "error"
        or (finding["code"] == rule and one.get("hints") != "ok")
        or any(wanted.get("code", rule) == finding["code"] for wanted in one["expect"])
    ]  # fmt: skip
    missing = []
    for wanted in one["expect"]:
        full = {"file": next(iter(one["files"])), "code": rule, **wanted}
        found = [finding for finding in left if full.items() <= finding.items()]
        left = [finding for finding in left if finding not in found[:1]]
        if not found:
            missing.append(full)
    assert (missing, left) == ([], []), one["why"]
