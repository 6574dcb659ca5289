"""Where job documents are kept.

`base` has the contract, `sqlite` and `redis` keep documents, `archive` has those of jobs long
ended, `tiers` joins both, `snapshot` writes and reads what is to be trained on, `opening` finds the
store of an address.
"""

from jobsight.store.base import Change, Merged, Move, Put, Store, Stored
from jobsight.store.opening import open_store
from jobsight.store.reports import CheckReport, Position, PruneReport, StoreStatus

__all__ = [
    "Change",
    "CheckReport",
    "Merged",
    "Move",
    "Position",
    "PruneReport",
    "Put",
    "Store",
    "StoreStatus",
    "Stored",
    "open_store",
]
