"""What happened, in two halves that share the event table and the job document.

Analysis of a finished event table: `events` reads logs into it (`eventlog`), `timelines` indexes it
for questions as of a moment; `labels`, `counts`, `frames`, `outcomes` say what was known then, and
what came of it.

Gathering, from schedulers while jobs live or from what others kept: `sources` is the contract;
`follow` and `slurm` report on jobs while they run, `importers` read what others kept. All give job
documents, which `jobdocuments` turns into the event table and back.
"""
