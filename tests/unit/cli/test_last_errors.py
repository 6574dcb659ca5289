"""Errors that nothing else caught: one line each, whatever is in it."""

import errno

import pytest

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
