"""Importers of what others have kept: accounting, published traces, histories, event logs.

`base` is the contract and what all share. One file per format: `sacctdumps`, `slurmrecords` (JSON,
slurmdbd's table), `swf`, `queuelook`, `condorhistory`, `eventlogs`, and `mapped`, which reads any
table that a `mapping` describes, such as those of NREL's Eagle and the Alliance's Graham (`tables`
cuts it into rows). `adtext` cuts ads. `reading` finds files and their formats, and has the list of
all importers; `tally` counts the jobs.
"""

from jobsight.history.importers.base import Importer, ImportReport, Options
from jobsight.history.importers.mapped import Mapped
from jobsight.history.importers.reading import IMPORTERS, FileImport

__all__ = ["IMPORTERS", "FileImport", "ImportReport", "Importer", "Mapped", "Options"]
