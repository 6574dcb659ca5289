"""What the chaos test is made of: work for real clusters, collectors that get killed, the truth.

`work` and `condorwork`, `slurmwork` keep the clusters busy, `collecting` runs the collectors,
`segments` keeps the event log from being rotated away, `condortruth` and `slurmtruth` hold what a
store has against what the schedulers say, without a line of Jobsight's own readers.
"""

__all__: list[str] = []
