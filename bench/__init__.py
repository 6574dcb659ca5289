"""Benchmarks: each row of "Speed to reach", measured side by side in one run.

``python -m bench`` runs all and writes ``bench/RESULTS.md``; ``python -m bench reader`` runs one.
"""

__all__: list[str] = []
