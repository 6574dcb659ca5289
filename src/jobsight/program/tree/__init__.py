"""The normalized tree of a program in any of fourteen languages, and features made from it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jobsight.program.tree.grammars import LANGUAGES
from jobsight.program.tree.normalized import Endless, File, Tree
from jobsight.program.tree.vocabulary import EFFECTS, KINDS, ROLES, VERSION

if TYPE_CHECKING:
    from jobsight.program.tree.features import FEATURES, GROUPS, features_of, on_others, reuses
    from jobsight.program.tree.read import read_program, read_text

__all__ = [
    "EFFECTS",
    "FEATURES",
    "GROUPS",
    "KINDS",
    "LANGUAGES",
    "ROLES",
    "VERSION",
    "Endless",
    "File",
    "Tree",
    "features_of",
    "on_others",
    "read_program",
    "read_text",
    "reuses",
]

_MODULES = {
    **dict.fromkeys(("FEATURES", "GROUPS", "features_of", "on_others", "reuses"), "features"),
    **dict.fromkeys(("read_program", "read_text"), "read"),
}


def __getattr__(name: str) -> Any:
    """What needs numpy is imported when it is first asked for: checks do without it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
