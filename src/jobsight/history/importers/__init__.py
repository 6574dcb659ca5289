"""Importers of what others have kept: accounting, published traces, histories, event logs.

`base` is the contract, one file per importer: `sacct`, `slurmrecords`, `swf`, `mapped`,
`condorhistory`, `eventlogs`, `queuelook`. `mapped` reads any table that a `mapping` describes, such
as those of NREL's Eagle and the Alliance's Graham. `reading` finds files and their formats;
`lines`, `tables`, `adtext` cut them into rows; `values`, `life` are shared by several; `tally`
counts the jobs.
"""

from jobsight.history.importers.base import Importer, ImportReport, Options
from jobsight.history.importers.mapped import Mapped
from jobsight.history.importers.reading import IMPORTERS, FileImport

__all__ = ["IMPORTERS", "FileImport", "ImportReport", "Importer", "Mapped", "Options"]
