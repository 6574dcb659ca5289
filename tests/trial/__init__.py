"""What becomes of the same jobs on a real pool, by who decides about those that are held.

A schedule of submissions, bugs and outages, made of a seed, is played on an HTCondor pool of the
test bed, once for each arm. An arm is a way to decide; a bot carries it out with HTCondor's own
commands. `python -m tests.trial --help` runs it; docs/develop/proof/TRIAL.md has results.
"""
