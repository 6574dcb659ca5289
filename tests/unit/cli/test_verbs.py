"""The table of verbs: listed without their modules, imported when called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.cli.verbs import VERBS

HEAVY = ("numpy", "polars", "numba", "rich.console", "jobsight.settings", "jobsight.store")


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help_and_its_group_lists_it(verb: str) -> None:
    status, shown = run(*verb.split(), "--help")
    assert status == 0 and f"Usage: jobsight {verb} " in shown
    *group, name = verb.split()
    _, listed = run(*group, "--help")
    line = next((line for line in listed.splitlines() if line.startswith(f"  {name} ")), None)
    assert (line is None) == (VERBS[verb][1] == "")
    if line is not None:
        assert line.split(maxsplit=1)[1] == VERBS[verb][1]  # nothing is cut


@pytest.mark.parametrize("arguments", [[], ["store"], ["sweep"], ["models"]])
def test_help_imports_no_verb_and_takes_little_processor_time(arguments: list[str]) -> None:
    program = (
        "import sys, time; sys.argv[1:] = sys.argv[1:] + ['--help']\n"
        "from jobsight.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"loaded = [name for name in {HEAVY} if name in sys.modules]\n"
        "print(time.process_time(), *loaded, file=sys.stderr)\n"
    )
    least, loaded = 1.0, None
    for _ in range(3):  # processors that share their caches with others are slower at times
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
        )
        seconds, *loaded = done.stderr.split()
        least = min(least, float(seconds))
    assert loaded == []
    assert arguments or least < 0.2


@pytest.mark.parametrize(
    ("words", "expected"),
    [("jobsight jo", ["jobs", "job"]), ("jobsight store ex", ["export"]), ("jobsight sweep n", []),
     ("jobsight jobs --us", ["--user"]), ("jobsight train ", ["hold", "fail", "start", "bound"]),
     ("jobsight frames --as-of ", ["release", "hold"]), ("jobsight sweep node --", ["--help"]),
     ("jobsight fail a.sh --mem 4G --js", ["--json"])],
)  # fmt: skip
def test_words_are_completed_by_the_script_of_bash(words: str, expected: list[str]) -> None:
    *before, last = words.split(" ")
    script = (
        'eval "$(_JOBSIGHT_COMPLETE=source_bash jobsight)"; COMP_WORDS=("$@"); '
        'COMP_CWORD=$(($# - 1)); _jobsight_completion jobsight; echo "${COMPREPLY[@]}"'
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", script, "bash", *before, last],
        env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == expected, done


@pytest.mark.parametrize("verb", ["hold", "mcp", "sweep plan"])
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_options_of_a_verb_are_completed_without_its_module(verb: str, shell: str) -> None:
    program = (
        "import sys, time; sys.argv[:] = ['jobsight']\n"
        "from jobsight.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"loaded = [name for name in {HEAVY} if name in sys.modules and name != 'rich.console']\n"
        "print(time.process_time(), *loaded, file=sys.stderr)\n"
    )
    words = f"jobsight {verb} --"
    told = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    told |= {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | told | {"_JOBSIGHT_COMPLETE": f"complete_{shell}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, *loaded = done.stderr.split()
    assert not loaded
    assert float(seconds) < 0.3
    assert "--help" in done.stdout


def test_a_verb_that_is_not_there_suggests_the_nearest() -> None:
    assert "Did you mean 'jobs'" in run("jbos")[1]
    assert "Did you mean 'export'" in run("store", "exprot")[1]
    assert run("jobs", "--usr", "x")[0] == 2
