"""``python -m bench [NAME ...]``: run benchmarks, and write them into ``bench/RESULTS.md``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from bench import (
    answers,
    bounding,
    following,
    frames,
    imports,
    past,
    play,
    polling,
    profiling,
    reader,
    serving,
    store,
    stored_answers,
    trees,
)
from bench.measure import Section, machine
from bench.record import rewrite

_BENCHMARKS: dict[str, Callable[[], Section]] = {
    "reader": reader.run,
    "frames": frames.run,
    "answers": answers.run,
    "stored_answers": stored_answers.run,
    "stored_answers_many": stored_answers.many,
    "served_answers": stored_answers.served,
    "bounding": bounding.run,
    "imports": imports.run,
    "past": past.run,
    "play": play.run,
    "store": store.run,
    "polling": polling.run,
    "profiling": profiling.run,
    "serving": serving.run,
    "soaking": serving.soak,
    "following": following.run,
    "trees": trees.run,
}
_RESULTS = Path(__file__).with_name("RESULTS.md")
_HEAD = """# Results

Written by `make bench`, or by `python -m bench NAME` for single benchmarks. Medians of several
runs, each in a separate process. Each comparison was made in one run, with the day and machine in
its section.
"""


def main(names: list[str]) -> int:
    """Run these benchmarks, or all, and replace their sections."""
    unknown = [name for name in names if name not in _BENCHMARKS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(_BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names or _BENCHMARKS:
        here = machine()
        section = _BENCHMARKS[name]()
        section.lines = [*here.splitlines(), "", *section.lines]
        print(section.markdown(), flush=True)
        text = section.markdown().partition("\n")[2]
        rewrite(_RESULTS, _HEAD, {section.title: text})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
