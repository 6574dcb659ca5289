try:
    import matplotlib_that_may_lack as plt
except ImportError:
    plt = None
import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stubs_only import Table

HAVE_H5 = importlib.util.find_spec("h5py_or_not") is not None
print("plots" if plt else "no plots", HAVE_H5)
