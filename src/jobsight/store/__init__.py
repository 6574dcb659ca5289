"""Where job documents are kept.

`store` has what is the same for all stores, made of a `Backend` (`base`): `sqlite` or `redis`.
`archive` has the documents of jobs that ended long ago, `snapshot` writes and reads what is to be
trained on, `opening` finds the store of an address.
"""

from jobsight.store.base import Backend
from jobsight.store.opening import open_store
from jobsight.store.rows import Merged, Move, Put, StoreStatus
from jobsight.store.store import Store

__all__ = ["Backend", "Merged", "Move", "Put", "Store", "StoreStatus", "open_store"]
