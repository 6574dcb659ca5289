"""What happened to jobs, as event logs, accounting and live queues record it.

Everything becomes one of two things: the event table (one row per event of HTCondor's logs) or job
documents (`jobsight.documents`), each of which can be made of the other.

Reading. Event logs: `events` reads them, made of `eventlog` (find, open and scan them; dates);
`following` reads logs that grow. Slurm: `slurm` asks and parses its tools. HTCondor's tools:
`condor`. Files of others: `importers`, one file per format. **A new scheduler** gets a folder like
`slurm` for its live queue, whose source implements `sources.Source`, and a file in `importers` for
its accounting. `jobdocuments` makes documents of events, `eventtables` events of documents,
`jobads` reads HTCondor's job attributes.

Events as of a moment. `timelines`: the table indexed, and what a decision sees. `outcomes` decides
what became of a released job. `labels` (cause, site, owner of a row), `reasons` (texts of holds),
`held`, `duplicates` (jobs in two logs), `counts`, `allotments` (amounts of runs), `pooltime`;
`frames`: the tensor of a held job and of others next to it.

Jobs as of a moment. `jobtable`: one row per job of either scheduler, with its columns; `past`:
what was known of earlier jobs that are alike, computed by `pastwalk`; `jobsasked`: the jobs that
are asked about. `jobwords`: a job in words.
"""
