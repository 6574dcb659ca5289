from .core import Stage as Stage, run

__all__ = ["Stage", "run"]
__version__ = "0.1"
