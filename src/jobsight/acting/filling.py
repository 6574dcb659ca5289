"""The files for administrators, with their folder and the constants at their heads filled in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from jobsight.settings import ActingSettings

__all__ = ["filled", "filled_files"]

_CONSTANT = {
    ".conf": re.compile(r"^(JOBSIGHT_)([A-Z_]+)( = ).*$", re.M),
    ".lua": re.compile(r"^(local )([A-Z_]+)( = ).*$", re.M),
    ".sh": re.compile(r"^()([A-Z_]+)(=).*$", re.M),
}


def filled_files(
    scheduler: str, place: re.Pattern[str], folder: Path, settings: ActingSettings, **more: object
) -> dict[str, str]:
    """The text of each file for a scheduler by name.

    Args:
        scheduler: whose files.
        place: what stands in them for their folder.
        folder: where they are to be.
        settings: values of constants, by the settings' names in capitals.
        more: values of others, or in place of these.
    """
    values = {name.upper(): value for name, value in settings} | more
    kept = files("jobsight.acting").joinpath("files", scheduler).iterdir()
    texts = {}
    for file in sorted(kept, key=lambda file: file.name):
        text = place.sub(lambda _: str(folder), file.read_text("utf-8"))
        texts[file.name] = filled(text, Path(file.name).suffix, values)
    return texts


def filled(text: str, suffix: str, values: Mapping[str, object]) -> str:
    """A file's text with these values of the constants at its head; None: as it is."""

    def fill(constant: re.Match[str]) -> str:
        before, name, equals = constant.groups()
        value = values.get(name)
        if value is None:
            return constant[0]
        number = isinstance(value, int | float)
        shown = f"{value:.6f}".rstrip("0").rstrip(".") if number else str(value)
        if suffix == ".sh":
            shown = shlex.quote(shown)
        elif suffix == ".lua" and not number:
            plain = (
                chr(b) if 31 < b < 127 and b not in b'"\\' else f"\\{b:03}" for b in shown.encode()
            )
            shown = f'"{"".join(plain)}"'
        return f"{before}{name}{equals}{shown}"

    return _CONSTANT[suffix].sub(fill, text) if suffix in _CONSTANT else text
