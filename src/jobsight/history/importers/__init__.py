"""Importers of what others have kept: accounting, published traces, histories, event logs.

`base` is the contract, one file an importer: `sacct`, `swf`, `eagle`, `graham`, `condorhistory`,
`eventlogs`. `inputs` finds files and their formats; `lines`, `tables`, `adtext` cut them into rows;
`values`, `life`, `naming`, `trace` are what several traces share; `tally` counts what became of it.
"""

from jobsight.history.importers.base import (
    BadRow,
    Importer,
    ImportReport,
    Options,
    Unknowable,
)
from jobsight.history.importers.condorhistory import CondorHistory
from jobsight.history.importers.eagle import Eagle
from jobsight.history.importers.eventlogs import EventLogs
from jobsight.history.importers.graham import Graham
from jobsight.history.importers.reading import IMPORTERS, FileImport
from jobsight.history.importers.sacct import Sacct
from jobsight.history.importers.swf import Swf

__all__ = [
    "IMPORTERS",
    "BadRow",
    "CondorHistory",
    "Eagle",
    "EventLogs",
    "FileImport",
    "Graham",
    "ImportReport",
    "Importer",
    "Options",
    "Sacct",
    "Swf",
    "Unknowable",
]
