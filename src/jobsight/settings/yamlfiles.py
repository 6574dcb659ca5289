"""YAML files that people write: read with a bound, and the place of each value, for errors.

A file is small (`MOST_BYTES`), holds plain values only (no tags that make objects), and its aliases
may not multiply it beyond `MOST_VALUES`. YAML is version 1.2: ``1e-3`` is a number, ``yes`` and
``on`` are texts; a key given twice is refused.
"""

from __future__ import annotations

import datetime
import re
import warnings
from pathlib import Path
from typing import Any

import pydantic

from jobsight.errors import SettingsError
from jobsight.text import printable

__all__ = ["MOST_BYTES", "Location", "YamlFile", "explain", "shown"]

MOST_BYTES = 256 << 10
MOST_VALUES = 100_000

_SHOULD = "Input should be "
_WANTED = {
    "tuple_type": f"{_SHOULD}a list such as [a, b]",
    "too_short": f"{_SHOULD}longer",
    "model_type": f"{_SHOULD}a mapping of names to values",
    "path_type": f"{_SHOULD}a path",
}
"""Messages in the words of YAML, by pydantic's type of error."""

_KIND = re.compile(r"[\[-]|^(bool|int|float|str)$")

Location = tuple[int | str, ...]
"""Keys and indices from the root to a value."""


class YamlFile:
    """One YAML file: its `path`, its `values` as plain Python, and their places."""

    def __init__(self, path: Path, tree: Any, what: str) -> None:
        self.path = path
        self._tree = tree
        self._what = what
        self._left = MOST_VALUES
        self.values: dict[str, Any] = self._plain(tree, ()) if tree is not None else {}

    @classmethod
    def read(cls, path: Path, what: str = "settings", kind: str = "settings file") -> YamlFile:
        """Read a file whose root is a mapping; `what` (plural) and `kind` name it in errors.

        Raises:
            SettingsError: it is missing, unreadable, too large, not UTF-8, not YAML (names line and
            column),
                or not a mapping.
        """
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        text = _text(path, what, kind)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about numbers in files that say they are YAML 1.1
                tree = YAML(typ="rt").load(text)
            if tree is None or isinstance(tree, dict):
                return cls(path, tree, what)
        except MarkedYAMLError as error:
            mark = error.problem_mark
            where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
            raise SettingsError(f"{path}{where}: {_problem(error)}") from None
        except RecursionError:
            raise SettingsError(f"{path}: {what} are nested too deeply") from None
        except (YAMLError, ValueError) as error:
            raise SettingsError(
                f"cannot read {what} from {path}: {printable(error, 200)}"
            ) from None
        raise SettingsError(f"{path}: {what} are a mapping of names to values")

    def position(self, location: Location, *, value: bool = False) -> str | None:
        """``file:line:column`` of the key at `location`, or of the last part of it there is.

        With `value`, of its value. None where the file lacks even the first part.
        """
        node: Any = self._tree
        found = None
        for key in location:
            try:
                mark: Any = node.lc
                if not isinstance(node, dict):
                    line, column = mark.item(key)
                else:
                    line, column = mark.value(key) if value else mark.key(key)
                node = node[key]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
            found = f"{self.path}:{line + 1}:{column + 1}"
        return found

    def _plain(self, node: Any, location: Location) -> Any:
        self._left -= 1
        if self._left < 0:
            raise SettingsError(
                f"{self.path}: {self._what} hold more than {MOST_VALUES} values, aliases counted"
            )
        if isinstance(node, dict):
            return {str(key): self._plain(item, (*location, key)) for key, item in node.items()}
        if isinstance(node, list):
            return [self._plain(item, (*location, at)) for at, item in enumerate(node)]
        return self._scalar(node, location)

    def _scalar(self, node: Any, location: Location) -> Any:
        from ruamel.yaml.scalarbool import ScalarBoolean

        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, ScalarBoolean):  # an anchored one; it is a kind of int
            return bool(node)
        for kind in (int, float, str):
            if isinstance(node, kind):
                return kind(node)
        if isinstance(node, datetime.date):
            return node
        where = self.position(location) or self.path
        raise SettingsError(f"{where}: this is not a text, number, list or mapping; remove its tag")


def _text(path: Path, what: str, kind: str) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SettingsError(f"{path} is larger than {MOST_BYTES >> 10} KiB; are these {what}?")
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise SettingsError(f"there is no {kind} {path}") from None
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"cannot read {what} from {path}: byte {error.start + 1} is not UTF-8; save it as UTF-8"
        ) from None
    except OSError as error:
        raise SettingsError(f"cannot read {what} from {path}: {error.strerror or error}") from None


def _problem(error: Any) -> str:
    """What the YAML library says, in a line, and what to do about the commonest mistakes."""
    problem = printable(error.problem or "not YAML", 200)
    if "\\t" in problem or "'\t'" in str(error.problem):
        return f"{problem}; indent with blanks, not with tabs"
    if problem.startswith("found duplicate key"):
        return problem + "; give it once"
    return problem


def shown(value: Any) -> str:
    """A value as an error shows it, in one short line."""
    return printable(repr(value), 60)


def explain(error: pydantic.ValidationError, files: list[YamlFile]) -> SettingsError:
    """The first error that pydantic found, with its place in the last file that has it."""
    errors = error.errors()
    first = errors[0]
    location = _of_setting(first)
    name = ".".join(str(part) for part in location)
    where = next((found for file in reversed(files) if (found := file.position(location))), None)
    if first["type"] == "extra_forbidden":
        reason = f"there is no setting {name!r}"
    else:
        # One for each kind of value that the setting takes.
        wanted = [
            _WANTED.get(one["type"], one["msg"]) for one in errors if _of_setting(one) == location
        ]
        other = "".join(f" or {one.removeprefix(_SHOULD)}" for one in wanted[1:])
        reason = f"{name}: {wanted[0]}{other} (given {shown(first.get('input'))})"
    return SettingsError(f"{where}: {reason}" if where else reason)


def _of_setting(one: Any) -> Location:
    """Pydantic's location without the kind of value that it tried, such as ``tuple[str]``."""
    location: Location = one["loc"]
    if one["type"] == "extra_forbidden":
        return location
    return tuple(part for part in location if isinstance(part, int) or not _KIND.search(part))
