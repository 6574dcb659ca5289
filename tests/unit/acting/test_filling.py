"""Constants at the heads of files: values stay values."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st
from lupa import lua51

from jobsight.acting.filling import filled


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
def test_values_are_only_values(text: str) -> None:
    lua = lua51.LuaRuntime(encoding="latin-1")
    script = filled('local A = ""\nreturn A', ".lua", {"A": text})
    assert lua.execute(script) == text.encode().decode("latin-1")
    script = filled('A=x\nprintf %s "$A"', ".sh", {"A": text})
    said = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert said.stdout == text.encode()


def test_numbers_have_six_decimals() -> None:
    values = {"A": 0.00001, "B": 1.0, "C": 900, "D": None}
    assert filled("A=1\nB=1\nC=1\nD=1", ".sh", values) == "A=0.00001\nB=1\nC=900\nD=1"
    assert filled("local A = 1\nlocal E = 5", ".lua", values) == "local A = 0.00001\nlocal E = 5"
