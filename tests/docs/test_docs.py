"""Every command that the README and the docs show is run, and what it prints is compared.

A block of ``console`` holds commands (``$ …``) and what they print. Shown and printed text match if
they are equal but for numbers and blanks; ``...`` stands for any text within a line and, as a line
of its own, for any lines. A block after ``<!-- long -->`` is run only for ``make prove``.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.calling import jobsight
from tests.support.limits import PROVE

from jobsight.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_COMMANDS = [page for page in PAGES if "```console\n" in page.read_text(encoding="utf-8")]
BLOCK = re.compile(r"^(<!-- long -->\n)?```console\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"[<>]?\d+(?:[.,:–]\d+)*")


def steps(page: str) -> Iterator[tuple[str, str, bool]]:
    """Each command of a page with what it is shown to print, and whether it takes long."""
    for long, block in BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown, bool(long)


def pattern(shown: str) -> re.Pattern[str]:
    """What printed text, made plain by `plain`, must match to be what is shown."""
    lines = []
    for line in plain(shown).split("\n"):
        if line == "...":
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            lines.append(re.escape(line).replace(re.escape("..."), r"[^\n]*") + r"\n")
    return re.compile("".join(lines))


def plain(text: str) -> str:
    """Numbers as ``#``, runs of blanks as one, none at the ends of lines."""
    lines = (" ".join(NUMBER.sub("#", line).split()) for line in text.strip().splitlines())
    return "\n".join(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with the repository's data and examples; pages share what they make."""
    place = tmp_path_factory.mktemp("docs")
    for name in ("data", "examples"):
        (place / name).symlink_to(ROOT / name)
    return place


def run(command: str) -> subprocess.CompletedProcess[str]:
    """What a command prints; one of Jobsight alone needs neither a shell nor a new process."""
    words = shlex.split(command)
    # `profile` watches all children of its process: here those would be the servers of other tests.
    alone = words[0] == "jobsight" and words[1] != "profile"
    if alone and not set("|>;$") & set(command):
        return jobsight(*words[1:])
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, encoding="utf-8", check=False
    )


@pytest.mark.parametrize(
    "page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)).removesuffix(".md")
)
def test_commands_print_what_is_shown(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    # Only the programs of this environment, and the system's, are found.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.chdir(folder)
    if not PROVE:
        monkeypatch.setenv("JOBSIGHT_HOLD__LSTM__EPOCHS", "5")
        request.getfixturevalue("fewest_trees")
    for command, shown, long in steps(page.read_text(encoding="utf-8")):
        if long and not PROVE:
            continue
        done = run(command)
        assert done.returncode == 0, f"$ {command}\n{done.stderr}"
        printed = plain(done.stdout) + "\n"
        assert pattern(shown).fullmatch(printed), (
            f"$ {command}\nshown:\n{shown}\nprinted:\n{done.stdout[:4000]}"
        )


def shown_in(pages: list[Path]) -> set[str]:
    """Verbs of the commands that are shown and run."""
    commands = [step[0] for page in pages for step in steps(page.read_text(encoding="utf-8"))]
    return {verb for command in commands for verb in re.findall(r"\bjobsight (\w+)", command)}


def test_every_verb_is_shown() -> None:
    # The rest runs until it is stopped, needs answers that became old, or an access point.
    running = {"acting", "mcp", "review", "serve", "share"}
    assert shown_in(PAGES) == {verb for verb in VERBS if " " not in verb} - running
    assert {"bound", "check", "fail", "hold", "start"} <= shown_in(PAGES[:1])


@pytest.mark.parametrize(
    ("shown", "printed", "matches"),
    [
        ("a 1\n...\nz\n", "a 22\nb\nc\nz", True),
        ("a 1\n...\nz\n", "a 3\nz", True),
        ("a ... z\n", "a whatever 7 z", True),
        ("a ... z\n", "a\nz", False),
        ("a\n", "a\nb", False),
        ("at 01:52:18, <1 %\n", "at 3, 25 %", True),
    ],
)
def test_what_is_shown_matches_by_the_rule(shown: str, printed: str, matches: bool) -> None:
    assert bool(pattern(shown).fullmatch(plain(printed) + "\n")) is matches
