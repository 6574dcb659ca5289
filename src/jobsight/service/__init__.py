"""What runs all the time: the collector, its status, and the job notices of Kafka.

`collector` runs the sources that `configured` makes, a thread each (`worker`); `housekeeping`
prunes the store. `status`, `records`, `logs` and `systemd` report how they are. `notices` is a
source of its own, fed by Kafka (`kafka`); `publishing` sends answers.
"""

__all__: list[str] = []
