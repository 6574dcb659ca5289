"""Real HTCondor, Slurm, Redis and Kafka on this machine; see docs/develop/testbed.md."""

from tests.testbed.condor import EventLogOptions, HtcondorPool
from tests.testbed.errors import BedError, Unavailable
from tests.testbed.kafka import KafkaBroker
from tests.testbed.redis import RedisServer
from tests.testbed.slurm import SlurmCluster

__all__ = [
    "BedError",
    "EventLogOptions",
    "HtcondorPool",
    "KafkaBroker",
    "RedisServer",
    "SlurmCluster",
    "Unavailable",
]
