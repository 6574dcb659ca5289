import sys

from seqstats import gc_fraction, gc_skew

path, win = sys.argv[1], int(sys.argv[2])
seq = "".join(l.strip() for l in open(path) if not l.startswith(">"))
print(f"#gc\t{gc_fraction(seq):.3f}")
for pos, value in gc_skew(seq, win):
    print(f"{pos}\t{value:.3f}")
