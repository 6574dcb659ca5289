"""Errors that nothing else caught: one line each, whatever is in it."""

import errno
import io

import pytest

from jobsight.cli import common
from jobsight.cli import main as cli


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "Permission denied"),
        (PermissionError(errno.EACCES, "Permission denied", "a\nb"), "a b: Permission denied"),
        (OSError("an odd\x1b[31m\nname"), "an odd [31m name"),
    ],
)
def test_trouble_with_a_file_is_one_line_that_names_it(
    error: OSError, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr(cli, "app", fails)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 1
    assert capsys.readouterr().err == f"jobsight: {said}\n"


def test_letters_that_the_output_cannot_encode_are_question_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1"))
    monkeypatch.setattr(cli, "app", lambda: common.say("é █ – a\udce9"))
    cli.main()
    common.flush()
    assert written.getvalue() == "é ? ? a?\n".encode("latin-1")
