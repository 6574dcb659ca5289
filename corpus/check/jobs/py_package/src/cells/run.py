import argparse
import sys

from . import Rule


def main(argv=None):
    parser = argparse.ArgumentParser(prog="cells")
    parser.add_argument("-s", "--steps", type=int, default=4)
    parser.add_argument("--rule", type=int, default=90, choices=range(256), metavar="0..255")
    options = parser.parse_args(argv)
    rule, row = Rule(options.rule), [0] * 10 + [1] + [0] * 10
    for _ in range(options.steps):
        print("".join(" #"[cell] for cell in row))
        row = rule(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
