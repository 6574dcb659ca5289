"""What runs all the time: the collector, its status, and the job notices of Kafka.

`collector` runs the sources, a thread each (`worker`), `housekeeping` prunes the store. `status`
and `health` tell how they are, `locks` keeps a second collector away, `systemd` and `logs` speak to
the system. `notices` is a source of its own, fed by Kafka (`messages`, `kafka`, `deadletters`),
`lookups` asks schedulers about the jobs noticed, and `answers` publishes predictions.
"""

__all__: list[str] = []
