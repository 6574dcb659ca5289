"""What runs all the time: the collector, its status, and the job notices of Kafka.

`collector` runs the sources that `configured` makes, a thread each (`worker`), prunes the store,
and moves `profiles` that Slurm's prologs left into it. `acting` runs what acts. `status`, `logs`
and `systemd` report how they are. `notices` is a source of its own, fed by `kafka`, which also
sends answers.
"""

__all__: list[str] = []
