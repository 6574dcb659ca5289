"""Where models are kept that may answer: by question and cluster, with a champion of each."""

from jobsight.learning.registry.directories import read_report
from jobsight.learning.registry.ledger import Record
from jobsight.learning.registry.registry import DEFAULT, Entry, Registry

__all__ = ["DEFAULT", "Entry", "Record", "Registry", "read_report"]
