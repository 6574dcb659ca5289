"""One form for all verbs: their help, the options they share, and lines of 80 cells."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from rich.cells import cell_len
from tests.support.calling import jobsight
from tests.support.storedjobs import HOSTILE, filled, held_job, slurm_job

from jobsight.cli.main import _EXTRAS, app
from jobsight.cli.verbs import VERBS
from jobsight.documents import Submission

DATA = Path(__file__).parents[3] / "data"
BASE = {"answer", "check", "collect"}
"""Extras whose modules answers cannot do without."""
OPTIONAL = {module for module, extra in _EXTRAS.items() if extra not in BASE} | {
    "classad2", "htcondor", "htcondor2", "optuna", "redis", "torch", "wandb",
}  # fmt: skip
HELP = """
import importlib.abc, json, sys
from typer.testing import CliRunner

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from jobsight.cli.main import app
from jobsight.cli.verbs import VERBS
from jobsight.documents import Submission

called = {verb: CliRunner().invoke(app, [*verb.split(), "--help"]) for verb in VERBS}
print(json.dumps({verb: [one.exit_code, one.output] for verb, one in called.items()}))
"""


@pytest.fixture(scope="module")
def helps() -> dict[str, tuple[int, str]]:
    """What each verb says of itself where no optional module can be imported."""
    done = subprocess.run(
        [sys.executable, "-c", HELP, ",".join(OPTIONAL)], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("verb", VERBS)
def test_help_does_without_extras(verb: str, helps: dict[str, tuple[int, str]]) -> None:
    status, shown = helps[verb]
    assert status == 0 and f"Usage: jobsight {verb} " in shown
    assert "--no-color" in shown


def options() -> dict[str, dict[str, list[str]]]:
    """By verb: its options, each with all its forms."""
    found: dict[str, dict[str, list[str]]] = {}

    def walk(group: typer.core.TyperGroup, path: str) -> None:
        for name in group.commands:
            context = group.context_class(group, info_name=path)
            _, command, _ = group.resolve_command(context, [name])
            verb = f"{path} {name}".strip()
            if isinstance(command, typer.core.TyperGroup):
                walk(command, verb)
            elif not verb.startswith("sweep node"):
                found[verb] = {one: param.opts for param in command.params for one in param.opts}

    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)
    walk(root, "")
    return found


def test_an_option_has_one_form() -> None:
    for verb, known in options().items():
        assert known.get("--user", ["--user", "-u"]) == ["--user", "-u"], verb
        assert known.get("--output", ["-o", "--output"]) in (["-o", "--output"], ["--output", "-o"])
        assert "--no-color" in known
        assert {"--since", "--until"} & set(known) in (set(), {"--since", "--until"}), verb
        assert "--store" not in known or "--config" in known
    asked = {verb for verb, known in options().items() if "--user" in known}
    assert asked == {"fail", "hold", "jobs", "mcp", "start", "store export"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with real jobs and some of many characters, and the begin of a real log."""
    folder = tmp_path_factory.mktemp("forms")
    log = gzip.decompress((DATA / "pool-a.log.gz").read_bytes())[:400_000]
    (folder / "pool.log").write_bytes(log[: log.rindex(b"\n...\n") + 5])
    wide = slurm_job("7", submission=Submission(user="u" * 60, name="数据" * 40))
    filled(folder / "jobs.db", [wide, held_job(HOSTILE * 3)])
    for name in ("sacct.psv", "condor-history.txt"):
        done = jobsight(
            "import", DATA / "samples" / name, "--store", folder / "jobs.db", "--access-point", "ap"
        )
        assert done.returncode == 0, done.stderr
    return folder


COMMANDS = [
    "events pool.log",
    "import pool.log --store new.db --verbose",
    "jobs --limit 0 --store jobs.db",
    "jobs --limit 0 --store jobs.db --timezone Asia/Kolkata",
    "job 7 103_3 --store jobs.db --timezone Asia/Kolkata",
    "store status --store jobs.db",
    "store check --store jobs.db",
    "start --pending --store jobs.db --model none",
    "start 103_3 --store jobs.db --model none",
    "fail --pending --running --store jobs.db --model none",
    "fail --pending --each --store jobs.db --model none",
    "fail 103_3 --store jobs.db --model none",
    "hold --all --log pool.log --model none",
    "hold --each --log pool.log --model none",
    "hold --all --store jobs.db --model none",
    "collect --status",
    "token list",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_80_cells(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    shown = jobsight(*command.split()).stdout
    # A command is never broken: it is there to be copied.
    lines = [
        one for one in shown.splitlines() if not re.match(r"\s+(condor_|echo |scontrol )", one)
    ]
    assert [line for line in lines if cell_len(line) > 80] == []
    assert not re.search(r":\d\d\.\d", shown)  # parts of seconds
