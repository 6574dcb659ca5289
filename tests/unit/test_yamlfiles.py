import datetime
from pathlib import Path

import pytest

from jobsight.errors import SettingsError
from jobsight.settings.yamlfiles import YamlFile, shown


def read(folder: Path, text: str) -> YamlFile:
    path = folder / "x.yaml"
    path.write_text(text)
    return YamlFile.read(path)


def test_values_are_plain_python(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "a: 1_000\nb: 1e-3\nc: 0x10\nd: 'text'\ne: yes\nf: true\ng: null\nh: 2024-01-02\n"
        "i: |\n  lines\nj: [1, {k: 2.5}]\n7: .inf\nl: 010\n",
    ).values
    assert found == {
        "a": 1000,
        "b": 0.001,
        "c": 16,
        "d": "text",
        "e": "yes",
        "f": True,
        "g": None,
        "h": datetime.date(2024, 1, 2),
        "i": "lines\n",
        "j": [1, {"k": 2.5}],
        "7": float("inf"),
        "l": 10,
    }
    assert type(found["a"]) is int
    assert type(found["b"]) is float
    assert type(found["d"]) is type(found["i"]) is str


def test_anchors_are_spelled_out_and_merged(tmp_path: Path) -> None:
    found = read(
        tmp_path, "a: &x {k: 1, l: 2}\nb: *x\nc: {<<: *x, l: 3}\nd: &t true\ne: *t\n"
    ).values
    assert found["b"] == {"k": 1, "l": 2}
    assert found["c"] == {"k": 1, "l": 3}
    assert found["e"] is True


def test_places_of_keys_and_values(tmp_path: Path) -> None:
    file = read(tmp_path, "a:\n  b: 1\n  c: [5, {d: 6}]\n")
    assert file.position(("a", "b")) == f"{tmp_path}/x.yaml:2:3"
    assert file.position(("a", "b"), value=True) == f"{tmp_path}/x.yaml:2:6"
    assert file.position(("a", "c", 1, "d"), value=True) == f"{tmp_path}/x.yaml:3:14"
    assert file.position(("a", "c", 7)) == f"{tmp_path}/x.yaml:3:3"
    assert file.position(("a", "nothing", "below")) == f"{tmp_path}/x.yaml:1:1"
    assert file.position(("nothing",)) is None
    assert read(tmp_path, "").position(("a",)) is None


def test_a_mark_of_byte_order_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert YamlFile.read(tmp_path / "x.yaml").values == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: !foo bar\n",
            "x.yaml:1:1: this is not a text, number, list or mapping; remove its tag",
        ),
        ("a:\n- !!binary aGk=\n", "this is not a text, number"),
        ("a: 1\nb:\n\tc: 2\n", "x.yaml:3:1: found character .* indent with blanks, not wit"),
        ("a: 1\na: 2\n", 'x.yaml:2:1: found duplicate key "a" .*; give it once'),
        ("a: *nothing\n", "x.yaml:1:4: found undefined alias"),
        ("a: " + "9" * 5000 + "\n", "cannot read settings from .*x.yaml: Exceeds the limit"),
    ],
)
def test_trouble_is_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_what_is_shown_is_short_and_plain() -> None:
    assert shown("a\x1b[31m\n") == r"'a\x1b[31m\n'"
    assert len(shown(list(range(1000)))) <= 60
