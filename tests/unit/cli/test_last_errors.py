"""Errors that nothing else caught: one line each, whatever is in it."""

import errno
import io
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.hold_models import constant_model
from tests.support.storedjobs import filled, held_job

from jobsight.cli import main as cli
from jobsight.cli import output
from jobsight.runtime import install_command
from jobsight.settings import Settings


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "Permission denied"),
        (PermissionError(errno.EACCES, "Permission denied", "a\nb"), "a b: Permission denied"),
        (OSError("an odd\x1b[31m\nname"), "an odd [31m name"),
        (FileNotFoundError(errno.ENOENT, "No such file"), "No such file"),
        (MemoryError(), cli._NO_MEMORY),
        (
            ModuleNotFoundError(name="polars.x"),
            f"polars is not installed: {install_command('answer')}",
        ),
        (ImportError("libx.so: failed to map segment from shared object"), cli._NO_MEMORY),
    ],
)
def test_trouble_with_a_file_is_one_line_that_names_it(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_words: object) -> None:
        raise error

    monkeypatch.setattr(cli, "app", fails)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 1
    assert capsys.readouterr().err == f"jobsight: {said}\n"


def test_a_folder_that_is_gone_is_told_in_one_line(tmp_path: Path) -> None:
    program = "import os; os.rmdir(os.getcwd()); from jobsight.cli.main import main; main()"
    folder = tmp_path / "gone"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, "jobs", "--store", "x.db"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = "jobsight: the current folder was removed; change to another\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_letters_that_the_output_cannot_encode_are_question_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1"))
    monkeypatch.setattr(cli, "app", lambda _words: output.say("é █ – a\udce9"))
    cli.main()
    output.flush()
    assert written.getvalue() == "é ? ? a?\n".encode("latin-1")


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_where_standard_error_is_closed_or_full_the_answer_is_given_all_the_same(
    closed: str,
) -> None:
    program = """
from jobsight.cli import main, output
def answer(_words):
    with output.progress_bar("x") as progress, output.stages() as stage:
        progress(1, 2)
        stage("x")
    output.say("the answer")
    output.note("beside it")
main.app = answer
main.main()
"""
    assert _without_errors(program, closed) == (0, "the answer\n")


def test_a_user_without_a_home_has_settings_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError("no such user id")

    for name in ("XDG_DATA_HOME", "JOBSIGHT_REGISTRY", "JOBSIGHT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "to be put back")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.raises(RuntimeError):
        Path.home()
    asked: list[Path] = []
    monkeypatch.setattr(cli, "app", lambda _words: asked.append(Settings.load().registry))
    cli.main()
    assert asked == [Path("/nonexistent/.local/share/jobsight/models")]


@pytest.mark.parametrize(("arguments", "status"), [(["nope"], 2), (["jobs", "--store", "/no"], 1)])
def test_no_error_goes_where_answers_go(arguments: list[str], status: int) -> None:
    program = f"import sys; sys.argv[1:] = {arguments}; from jobsight.cli.main import main; main()"
    assert _without_errors(program, "2>&-") == (status, "")


@pytest.mark.slow
def test_each_extra_installs_all_that_its_verbs_import(tmp_path: Path) -> None:
    log, store, collected = (tmp_path / name for name in ("EventLog", "jobs.db", "collected.db"))
    log.write_text(
        "000 (001.000.000) 2026-11-21 01:00:00 Job submitted from host: <192.0.2.1>\n...\n"
    )
    filled(store, [held_job("ap", 7, 2)])
    constant_model(0.05).save(tmp_path / "model", seed=0, facts={})
    collect = ["collect", "--once", "--event-log", str(log), "--store", str(collected)]
    hold = ["hold", "7.2", "--model", str(tmp_path / "model"), "--at", "2026-11-21 01:37:00Z"]
    learn = {name for name, extra in cli._EXTRAS.items() if extra == "learn"}
    answered = _without(learn | {"pyarrow"}, *hold, "--store", str(store))
    assert answered.returncode == 0, answered.stderr
    assert "held" in answered.stdout
    done = _without(learn | {"polars"}, *collect)
    assert done.returncode == 0, done.stderr
    assert (
        "1 job," in _without(set(cli._EXTRAS), "store", "status", "--store", str(collected)).stdout
    )
    told = f"jobsight: pyarrow is not installed: {install_command('collect')}\n"
    for lacking in (collect, [*hold, "--log", str(log)]):
        assert _without({"pyarrow"}, *lacking).stderr == told


def _without(missing: set[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command where some packages are not installed."""
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
sys.argv[1:] = {list(arguments)}
from jobsight.cli.main import main
main()
"""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


def _without_errors(program: str, closed: str) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, program],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
