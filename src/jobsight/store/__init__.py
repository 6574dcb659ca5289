"""Where job documents are kept.

`base` has the contract and what all stores share, `sqlite` and `redis` keep documents, `archive`
has those of jobs that ended long ago, `snapshot` writes and reads what is to be trained on,
`opening` finds the store of an address.
"""

from jobsight.store.base import Store
from jobsight.store.opening import open_store
from jobsight.store.reports import (
    Change,
    CheckReport,
    Merged,
    Move,
    Position,
    PruneReport,
    Put,
    Stored,
    StoreStatus,
)

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
