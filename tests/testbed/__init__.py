"""The test bed: real HTCondor, Slurm, Redis and Kafka on this machine; see docs/testbed.md."""

from tests.testbed.condor import EventLogOptions, HtcondorPool
from tests.testbed.slurm import SlurmCluster
from tests.testbed.unavailable import BedError, Unavailable

__all__ = ["BedError", "EventLogOptions", "HtcondorPool", "SlurmCluster", "Unavailable"]
