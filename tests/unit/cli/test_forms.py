"""One form for all verbs: their help, the options they share, and lines of 80 cells."""

import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from rich.cells import cell_len
from tests.support.calling import jobsight
from tests.support.storedjobs import HOSTILE, START, filled, held_job, job, slurm_job, told

from jobsight.cli import quick
from jobsight.cli.main import _EXTRAS, app
from jobsight.cli.models import scores_table
from jobsight.cli.output import progress_bar, stages
from jobsight.cli.terminal import TERMINAL, Terminal
from jobsight.cli.verbs import VERBS
from jobsight.documents import JobDocument, State, Submission, condor_id, parse_key
from jobsight.format import UNKNOWN
from jobsight.history.importers import FileImport
from jobsight.reports.scores import HEADINGS
from jobsight.runtime import install_command

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
            elif command is not None and not verb.startswith("sweep node"):
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
    "token list",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_80_cells(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("JOBSIGHT_SERVE__TOKENS", str(place / "tokens.json"))
    shown = jobsight(*command.split()).stdout
    assert shown
    # A command is never broken: it is there to be copied.
    lines = [
        one for one in shown.splitlines() if not re.match(r"\s+(condor_|echo |scontrol )", one)
    ]
    assert [line for line in lines if cell_len(line) > 80] == []
    assert not re.search(r":\d\d\.\d", shown)  # parts of seconds


def test_ids_and_states_are_whole_at_80_cells(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    call = ("jobs", "--limit", "0", "--store", place / "jobs.db")
    documents = json.loads(jobsight(*call, "--json").stdout)
    _, *lines = jobsight(*call).stdout.splitlines()
    expected = {(parse_key(one["id"]).job, one.get("state") or UNKNOWN) for one in documents}
    words = [line.split() for line in lines]
    assert len(lines) == len(documents) > 15
    for name, state in expected:
        assert any(line[0] == name and state in line for line in words), (name, state)


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_of_scores_fit(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was measured; the model, its headline and its loss stay."""
    monkeypatch.setenv("COLUMNS", str(columns))
    metrics = {
        "log_loss": ("roc_auc", "average_precision", "f1", "brier", "ece", "log_loss"),
        "pinball": ("pinball", "median_error", "coverage_80", "log10_mse", "within_2", "within_3",
                    "width"),
    }  # fmt: skip
    for loss, names in metrics.items():
        scores: dict[str, Any] = dict.fromkeys(names, 0.1234)
        scores |= {f"{names[0]}_ci": (0.1, 0.2), "ece_by_chance": 0.03}
        models = {"rates:learning": scores, "boosted": scores}
        report = {"headline": names[0], "metrics": names, "models": models, "chosen": "boosted",
                  "loss": loss}  # fmt: skip
        lines = scores_table(report).splitlines()
        assert len(lines) == 3 and max(map(cell_len, lines)) <= columns
        assert HEADINGS[names[0]] in lines[0] and HEADINGS[loss] in lines[0]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a store that is set, with pending jobs of two users and a held one."""
    held = told(0, State.HELD, source="eventlog#1", code=12, hold_code=13, reason="Transfer failed")
    jobs = [slurm_job(str(number), State.PENDING, user="ann" if number % 3 else "bob")
            for number in range(1, 10)]  # fmt: skip
    filled(tmp_path / "jobs.db", [*jobs, job(condor_id("ap", 5, 0), held, user="ann")])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JOBSIGHT_STORE", "jobs.db")
    return tmp_path


@pytest.mark.parametrize("user", [["--user", "bob"], ["-u", "bob"], ["--user=bob"]])
def test_a_user_is_named_alike_for_all_verbs(user: list[str], asked: Path) -> None:
    for verb, waiting in {"start": 10, "fail": 9}.items():
        every = jobsight(verb, "--pending", "--model", "none", "--json")
        assert len(json.loads(every.stdout)) == waiting
        pending = jobsight(verb, "--pending", "--model", "none", "--json", *user)
        assert len(json.loads(pending.stdout)) == 3, pending.stderr
        assert "--user goes with --pending" in jobsight(verb, "7", *user).stderr
    listed = json.loads(jobsight("jobs", "--json", *user).stdout)
    assert [one["submission"]["user"] for one in listed] == ["bob"] * 3
    assert json.loads(jobsight("hold", "--json", "--model", "none", *user).stdout) == []
    held = jobsight("hold", "--json", "--model", "none", "-u", "ann")
    assert [one["job"] for one in json.loads(held.stdout)] == ["5.0"]
    assert jobsight("hold", "5.0", *user).returncode == 2


def test_the_store_that_is_set_can_be_named(asked: Path) -> None:
    for call in (
        ["jobs"],
        ["store", "status"],
        ["start", "--pending", "--model", "none", "--json"],
    ):
        plain, named = jobsight(*call), jobsight(*call, "--store", "store:")
        assert plain.returncode == named.returncode == 0, named.stderr
        assert len(plain.stdout) == len(named.stdout) > 40
    assert not (asked / "store:").exists()


def test_a_service_of_another_store_is_not_asked_about_the_one_that_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quick, "socket_paths", lambda: pytest.fail("a service is looked for"))
    for words in (["--store", "store:"], ["--store=store:"], ["--log", "-"], ["--import", "-"]):
        assert quick._from_service(["fail", "--pending", *words]) is None


@pytest.mark.parametrize(("option", "name"), [("--import", "sacct.psv"), ("--log", "pool.log")])
def test_standard_input_is_read_as_a_file(option: str, name: str, place: Path) -> None:
    file = DATA / "samples" / name if option == "--import" else place / name
    call = [sys.executable, "-m", "jobsight", "fail", "--pending", "--running", "--model", "none"]

    def printed(source: str, stdin: Path) -> str:
        with stdin.open("rb") as stream:
            done = subprocess.run(
                [*call, option, source], stdin=stream, capture_output=True, text=True, check=True
            )
        return done.stdout

    shown = printed("-", file)
    assert shown == printed(str(file), Path("/dev/null")) and " as of 20" in shown


def test_a_log_comes_before_a_store_that_is_old_or_empty(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "own.yaml"
    config.write_text(f"eventlog: {{paths: [{place / 'pool.log'}]}}\n")
    call = ("hold", "--all", "--model", "none", "--config", config)
    for name, documents, why in (
        ("old.db", [held_job()], "has nothing since 2026-11-21 01:43:20Z"),
        ("empty.db", [], "is empty"),
    ):
        monkeypatch.setenv("JOBSIGHT_STORE", filled(tmp_path / name, documents))
        done = jobsight(*call)
        assert f"{name} {why}; what this machine has is read instead" in done.stderr
        assert " jobs held as of " in done.stdout
        assert "read instead" not in jobsight(*call, "--store", "store:").stderr
    assert "is empty; `jobsight import`" in jobsight("jobs").stdout
    os.utime(place / "pool.log", (START / 1e6, START / 1e6))
    monkeypatch.setenv("JOBSIGHT_STORE", str(tmp_path / "old.db"))
    assert "read instead" not in jobsight(*call).stderr


@pytest.mark.parametrize("words", [["--no-color", "jobs"], ["jobs", "--no-color"]])
def test_no_color_goes_anywhere(
    words: list[str], asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    token = TERMINAL.set(Terminal(80, colours=True))  # as in the service
    try:
        assert "\x1b[33mpending" in jobsight("jobs").stdout
        assert "\x1b[" not in jobsight(*words).stdout
        assert os.environ["NO_COLOR"] == ""  # the service goes on with colours
        TERMINAL.set(None)
        jobsight(*words)
        assert os.environ["NO_COLOR"] == "1"
    finally:
        TERMINAL.reset(token)


class _Log(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


def test_long_work_prints_lines_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobsight.cli.output._EVERY_S", 0.01)
    monkeypatch.setattr(sys, "stderr", log := _Log())
    threads = threading.active_count()
    with stages() as step, progress_bar("reading") as progress:
        step("training linear")
        progress(1, 4)
        for expected in ("jobsight: training linear (0 s)\n", "jobsight: reading, 25 % (0 s)\n"):
            while expected not in log.getvalue():
                log.written.clear()
                assert log.written.wait(30)
    assert threading.active_count() == threads


def test_an_interrupted_import_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = FileImport.batches

    def interrupted(self: FileImport) -> Iterator[list[JobDocument]]:
        yield next(whole(self))
        raise KeyboardInterrupt

    call = ("import", DATA / "samples" / "trace.swf", "--store", tmp_path / "new.db")
    with monkeypatch.context() as patch:
        patch.setattr(FileImport, "batches", interrupted)
        done = jobsight(*call)
    assert (done.returncode, done.stdout) == (1, "")
    assert "what was imported stays in the store; repeat the command to go on" in done.stderr
    again = jobsight(*call)
    assert again.returncode == 0 and " 0 new" in again.stdout


def test_what_is_missing_is_installed_into_this_very_install() -> None:
    command = shlex.split(install_command("serve"))
    assert command[0] == sys.executable and command[-1] == "jobsight[serve]"
    done = subprocess.run(
        [*command[:-1], "--dry-run", "--no-index", "--quiet", command[-1]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
