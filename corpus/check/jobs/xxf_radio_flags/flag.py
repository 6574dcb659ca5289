import sys

from rfikit import mad, median

with open(sys.argv[1]) as fh:
    rows = [[float(x) for x in l.split()] for l in fh if l.strip()]
nflag = 0
with open(sys.argv[2], "w") as out:
    for row in rows:
        m, s = median(row), mad(row) or 1e-9
        flags = [abs(x - m) > 5 * 1.4826 * s for x in row]
        nflag += sum(flags)
        out.write("".join("x" if f else "." for f in flags) + "\n")
print(sys.argv[1], nflag, "flagged")
