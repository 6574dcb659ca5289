"""``python -m bench [NAME ...]``: run benchmarks; all of them also write ``bench/RESULTS.md``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from bench import (
    answers,
    following,
    frames,
    imports,
    polling,
    reader,
    store,
    sweeps_planning,
    sweeps_training,
)
from bench.measure import Section, machine

_BENCHMARKS: dict[str, Callable[[], Section]] = {
    "reader": reader.run,
    "frames": frames.run,
    "answers": answers.run,
    "imports": imports.run,
    "store": store.run,
    "polling": polling.run,
    "following": following.run,
    "sweeps_training": sweeps_training.run,
    "sweeps_planning": sweeps_planning.run,
}
_RESULTS = Path(__file__).with_name("RESULTS.md")
_HEAD = """# Results

Written by `make bench`. Medians of several runs, each in a process of its own; every comparison was
made side by side in this one run.
"""


def main(names: list[str]) -> int:
    """Run the benchmarks named, all of them if none is."""
    unknown = [name for name in names if name not in _BENCHMARKS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(_BENCHMARKS)}", file=sys.stderr)
        return 2
    here = machine()
    print(here, end="\n\n", flush=True)
    parts = []
    for name in names or _BENCHMARKS:
        parts.append(_BENCHMARKS[name]().markdown())
        print(parts[-1], flush=True)
    if not names:
        _RESULTS.write_text("\n".join([_HEAD, here, "", *parts]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
