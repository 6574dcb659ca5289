#!/usr/bin/env python3
import json
import sys


def main() -> int:
    with open(sys.argv[1]) as fh:
        records = json.load(fh)
    for rec in records:
        if "id" not in rec:
            raise SystemExit(f"record without id: {rec}")
        print("ok", rec["id"])
    return len(records)


if __name__ == "__main__":
    sys.exit(main())
