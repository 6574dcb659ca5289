"""Counts words."""
from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class State:
    counts: Counter[str] = field(default_factory=Counter)
    seen: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


def run(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=argparse.FileType())
    sub = parser.add_subparsers(dest="cmd", required=True)
    count = sub.add_parser("count")
    count.add_argument("--min-len", type=int, default=1)
    count.add_argument("files", nargs="+")
    args = parser.parse_args(argv)
    cfg = json.load(args.config) if args.config else {}
    state = State()
    match cfg:
        case {"scale": float(scale), **rest} if scale > 0:
            print(f"{scale=:.2f} {sorted(rest)!r}")
        case _:
            return 2
    for name in args.files:
        with open(name) as fh:
            while line := fh.readline():
                if len(word := line.strip()) >= args.min_len:
                    state.counts[word] += 1
                    state.seen[word].append(len(line))
    *_, (last, n) = sorted(state.counts.items())
    print(f"{'total':>8}: {sum(state.counts.values()):,} {last} {n}", file=sys.stderr)
    assert re.fullmatch(r"(?P<w>\w+)", last)
    return 0 if state.counts else 1


if __name__ == "__main__":
    sys.exit(run())
