"""What Slurm reports of its jobs: parsers of its tools' text, a client that runs them, a source.

The parsers (`ids`, `sacct`, `squeue`, `scontrol`, `jobcomp`) do no I/O: text in, records out.
`client` runs the tools and counts its calls; `documents` makes job documents of records. `poller`
is the source that the collector polls: `watch` compares the queue with the last look, `accounts`
asks what ended, `unresolved` has the jobs whose end is not reported yet, `details` fetches scripts.
`lookup` asks about jobs by their ids. `pendingreasons`: why a job waits, in words.
"""
