"""Counts read positions in genes."""
import sys
from collections import Counter


def load_genes(path):
    with open(path) as fh:
        for line in fh:
            name, chrom, start, end = line.rstrip("\n").split("\t")
            yield name, chrom, int(start), int(end)


def main(reads, genes):
    genes = list(load_genes(genes))
    hits = Counter()
    with open(reads) as fh:
        for line in fh:
            chrom, pos = line.split()
            for name, c, start, end in genes:
                if c == chrom and start <= int(pos) <= end:
                    hits[name] += 1
    for name, *_ in genes:
        print(name, hits[name], sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:3])
