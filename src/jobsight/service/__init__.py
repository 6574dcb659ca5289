"""What runs all the time: the collector, its status, and the job notices of Kafka.

`collector` runs the sources that `configured` makes, a thread each (`worker`), and prunes the
store. `status`, `logs` and `systemd` report how they are. `notices` is a source of its own, fed by
`kafka`, which also sends answers.
"""

__all__: list[str] = []
