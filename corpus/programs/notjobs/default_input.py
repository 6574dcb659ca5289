import argparse
import sys

parser = argparse.ArgumentParser()
parser.add_argument("input", nargs="?", default="-", help="text to count; standard input by default")
parser.add_argument("--forever", action="store_true", help=argparse.SUPPRESS)
args = parser.parse_args()
input = sys.stdin if args.input == "-" else open(args.input)
counts = {}
for line in input:
    for word in line.split():
        counts[word] = counts.get(word, 0) + 1
print(len(counts))
