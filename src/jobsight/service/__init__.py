"""What runs all the time: the collector, its status, and the job notices of Kafka.

`collector` runs the sources that `configured` makes, a thread each (`worker`); `housekeeping`
prunes the store. `status`, `rates` and `troubles` tell how they are, `locks` keeps a second
collector away, `systemd` and `logs` speak to the system. `notices` is a source of its own, fed by
Kafka (`kafka`); `publishing` and `producing` send predictions.
"""

__all__: list[str] = []
