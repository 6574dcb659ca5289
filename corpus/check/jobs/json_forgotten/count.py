import sys
from collections import Counter


def main(sequence):
    counts = Counter(sequence)
    total = sum(counts.values())
    report = {base: counts[base] / total for base in "ACGT"}
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1])
