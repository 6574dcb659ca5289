"""Which vacates (004) are of a fault, so that the same is to be decided as after a hold.

HTCondor writes the code and sub-code of a 004 since 24.2. A hold of a running job writes a 004 with
the hold's code, and at once the 012. Without a 012 the job is idle again and runs by itself, after
the ``SYSTEM_ON_VACATE_COOL_DOWN`` (23.8) of its access point if that has one:

- transfers of which a plug-in says that they may be tried again (codes 12 and 13, sub-codes 2816
  and 1280), by the access point's PelicanRetryPolicy;
- transfers that fail by the execution point, since 25.8.2: its plug-in is missing, cannot be
  started or reports nothing (codes 12 and 13, sub-codes −1001 to −1004);
- errors of the execution point (`_FAULTS`), and whatever else has the words of a failed transfer.

A person, a policy, a drained or claimed slot or a lost connection vacates jobs too (the other codes
from 1000 on). That says nothing of the next run.

Sources: condor_holdcodes.h, the manual's *Vacate Reason Codes*, the configuration template
PelicanRetryPolicy of 25.14.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode

__all__ = ["faulty_vacates", "is_fault"]

_FIRST = 1000
"""The first code of vacates; those below are holds'."""
_FAULTS = (1003, 1007, 1020, 1021, 1024)
"""JobNotStarted, StarterError, VMError, ContainerError, ScratchDirError."""
_TRANSFER = (
    r"(?i)transfer (?:in|out)put files failure|FILETRANSFER:|file transfer plug-?in|URL file ="
)
"""The words of a failed transfer (``file_transfer.cpp``)."""
_CODES = {13: "(?i)^transfer input files failure", 12: "(?i)^transfer output files failure"}
"""How the text of a 004 without codes, of versions before 24.2, begins; by the code it stands for.
"""


def is_fault(code: pl.Expr, reason: pl.Expr) -> pl.Expr:
    """Whether a vacate with a code from 1000 on is of a fault."""
    failed = reason.str.contains(_TRANSFER).fill_null(value=False)
    return (code >= _FIRST) & (code.is_in(_FAULTS) | failed)


def faulty_vacates(
    table: pl.DataFrame,
) -> tuple[pl.DataFrame, NDArray[np.bool_], NDArray[np.bool_]]:
    """The event table with the codes of vacates by a fault; such rows, and those with codes.

    Their rows get the vacate's code and sub-code as those of a hold, which otherwise 012 alone has.
    Each of the rows bool (n,).
    """
    vacated, coded = np.zeros((2, len(table)), np.bool_)
    if "vacate_code" not in table.columns:
        return table, vacated, coded
    rows = np.flatnonzero((table["code"] == EventCode.EVICTED).to_numpy())
    code, reason = pl.col("vacate_code"), pl.col("reason")
    of_words = [
        pl.when(reason.str.contains(words)).then(pl.lit(number)) for number, words in _CODES.items()
    ]
    faults = (
        table.select(code, reason, subcode="vacate_subcode", row=pl.int_range(pl.len()))[rows]
        .with_columns(pl.coalesce(code, *of_words).cast(pl.Int32), coded=code.is_not_null())
        # 1 is the user's own hold.
        .filter(((code > 1) & (code < _FIRST)) | is_fault(code, reason))
    )
    if not len(faults):
        return table, vacated, coded
    vacated[faults["row"].to_numpy()] = True
    coded[faults["row"].to_numpy()] = faults["coded"].to_numpy()
    codes = {"hold_code": faults["vacate_code"], "hold_subcode": faults["subcode"]}
    columns = [table[to].clone().scatter(faults["row"], of) for to, of in codes.items()]
    return table.with_columns(columns), vacated, coded
