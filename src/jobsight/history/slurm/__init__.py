"""What Slurm reports of its jobs: parsers of its tools' text, a client that runs them, a source.

The parsers (`ids`, `sacct`, `squeue`, `scontrol`) do no I/O: text
in, records out. `client` runs the tools and counts its calls; `documents` makes job documents of
records; `poller` is the source that the collector polls, `lookup` asks about jobs by their ids.
"""
