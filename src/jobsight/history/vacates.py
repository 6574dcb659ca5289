"""Which vacates (004) are of a fault, so that the same is to be decided as after a hold.

HTCondor writes the code and sub-code of a 004 since 24.2. A hold of a running job writes a 004 with
the hold's code, and at once the 012. Without a 012 the job is idle again and runs by itself, after
the ``SYSTEM_ON_VACATE_COOL_DOWN`` (23.8) of its access point if that has one:

- transfers of which a plug-in says that they may be tried again (codes 12 and 13, sub-codes 2816
  and 1280), by the access point's PelicanRetryPolicy;
- transfers that fail by the execution point, since 25.8.2: its plug-in is missing, cannot be
  started or reports nothing (codes 12 and 13, sub-codes −1001 to −1004);
- errors of the execution point (`FAULTS`), and whatever else has the words of a failed transfer.

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

__all__ = ["FAULTS", "faulty_vacates"]

FAULTS = (1003, 1007, 1020, 1021, 1024)
"""JobNotStarted, StarterError, VMError, ContainerError, ScratchDirError."""
_IN_OWN_WORDS = (1000, 1001, 1004)
"""JobPolicyVacate, SystemPolicyVacate, UserVacateJob: their reasons may be in any words."""
_FIRST = 1000
"""The first code of vacates; those below are holds'."""
_TRANSFERS = {
    12: r"(?i)transfer output files failure",
    13: r"(?i)transfer input files failure|FILETRANSFER:|file transfer plug-?in|\( ?URL file =",
}
"""The words of a failed transfer (``file_transfer.cpp``), by the code of a hold for it."""
_BEGINS = r"(?i)^transfer (?:in|out)put files failure"
"""What a 004 without codes begins with where a transfer failed."""


def faulty_vacates(
    table: pl.DataFrame,
) -> tuple[pl.DataFrame, NDArray[np.bool_], NDArray[np.bool_]]:
    """The event table with the codes of vacates by a fault; such rows, and those with codes.

    Their rows get the codes that a hold for the same has, which otherwise 012 alone has. Each of
    the rows bool (n,).
    """
    vacated, coded = np.zeros((2, len(table)), np.bool_)
    if "vacate_code" not in table.columns:
        return table, vacated, coded
    rows = np.flatnonzero((table["code"] == EventCode.EVICTED).to_numpy())
    code, reason = pl.col("vacate_code"), pl.col("reason")
    of_words = [
        pl.when(reason.str.contains(words)).then(pl.lit(number, pl.Int32))
        for number, words in _TRANSFERS.items()
    ]
    # 1 is the user's own hold.
    of_hold = (code > 1) & (code < _FIRST)
    evicted = table.select(code, reason, subcode="vacate_subcode", row=pl.int_range(pl.len()))
    faults = evicted[rows].with_columns(
        hold_code=pl.when(of_hold)
        .then(code)
        .when(
            (code >= _FIRST) & ~code.is_in(_IN_OWN_WORDS)
            | code.is_null() & reason.str.contains(_BEGINS)
        )
        .then(pl.coalesce(*of_words, pl.when(code.is_in(FAULTS)).then(code)))
    )
    faults = faults.filter(pl.col("hold_code").is_not_null())
    if not len(faults):
        return table, vacated, coded
    vacated[faults["row"].to_numpy()] = True
    coded[faults["row"].to_numpy()] = faults["vacate_code"].is_not_null().to_numpy()
    columns = [
        table[name].clone().scatter(faults["row"], faults[of])
        for name, of in (("hold_code", "hold_code"), ("hold_subcode", "subcode"))
    ]
    return table.with_columns(columns), vacated, coded
