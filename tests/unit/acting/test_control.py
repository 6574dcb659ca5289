"""The switch: what stops acting, and what holds until it is certain that nothing acts."""

import os
from pathlib import Path

import pytest

from jobsight.acting.control import Switch
from jobsight.errors import OutputError, SourceError


def test_nothing_acts_while_the_kill_file_exists(tmp_path: Path) -> None:
    switch = Switch(tmp_path)
    assert switch.refusal() is None
    with switch.turn_off(1.0) as quiet:
        assert quiet
    assert "turned off" in str(switch.refusal())
    with switch.taken() as refusal:
        assert refusal is not None
    switch.turn_on()
    assert switch.refusal() is None


def test_nothing_acts_where_it_is_not_known_whether_it_was_turned_off(tmp_path: Path) -> None:
    assert "missing" in str(Switch(tmp_path / "gone").refusal())
    (tmp_path / "file").touch()
    assert "cannot be read" in str(Switch(tmp_path / "file").refusal())
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in str(Switch(tmp_path / "loop").refusal())
    # A link to nothing is a kill file too.
    (tmp_path / "off").symlink_to(tmp_path / "nowhere")
    assert Switch(tmp_path).refusal() is not None


def test_turning_off_waits_for_the_call_under_way(tmp_path: Path) -> None:
    acting, other = Switch(tmp_path), Switch(tmp_path)
    with acting.taken() as refusal:
        assert refusal is None
        with other.turn_off(0.2) as quiet:
            assert not quiet
    with other.turn_off(0.2) as quiet, acting.taken() as refusal:
        assert quiet
        assert "turns acting off" in str(refusal)


def test_one_process_acts_at_a_time(tmp_path: Path) -> None:
    switch = Switch(tmp_path / "new")
    with switch.alone():
        assert f"process {os.getpid()}" in str(switch.acting())
        with pytest.raises(SourceError, match="acts already"), Switch(tmp_path / "new").alone():
            pass
    assert switch.acting() is None


def test_a_kill_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "off").mkdir()
    with pytest.raises(OutputError, match="off"), Switch(tmp_path).turn_off(0.1):
        pass
    assert Switch(tmp_path).refusal() is not None
