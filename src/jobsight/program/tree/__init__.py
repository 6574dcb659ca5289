"""The normalized tree of a program in any of fourteen languages, and features made from it."""

from jobsight.program.tree.features import FEATURES, GROUPS, features_of
from jobsight.program.tree.grammars import LANGUAGES
from jobsight.program.tree.normalized import Endless, File, Tree
from jobsight.program.tree.read import read_program, read_text, read_walked
from jobsight.program.tree.vocabulary import EFFECTS, KINDS, ROLES, VERSION

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
    "read_program",
    "read_text",
    "read_walked",
]
