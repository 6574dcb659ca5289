"""Where job documents are kept.

`base` has the contract and what all stores share, `sqlite` and `redis` keep documents, `archive`
has those of jobs that ended long ago, `snapshot` writes and reads what is to be trained on,
`opening` finds the store of an address.
"""

from jobsight.store.base import Store
from jobsight.store.opening import open_store
from jobsight.store.reports import Merged, Move, Put, StoreStatus

__all__ = ["Merged", "Move", "Put", "Store", "StoreStatus", "open_store"]
