import argparse
import os
import time

ap = argparse.ArgumentParser()
ap.add_argument("--chroms", nargs="+", required=True)
ap.add_argument("--state", default="state")
ap.add_argument("--out", required=True)
args = ap.parse_args()

todo = set(args.chroms)
scores = []
while todo:
    for c in sorted(todo):
        if os.path.exists(os.path.join(args.state, "chr%s.done" % c)):
            with open(os.path.join(args.state, "chr%s.z" % c)) as fh:
                for line in fh:
                    chrom, snp, z = line.split()
                    scores.append((abs(float(z)), chrom, snp))
            todo.discard(c)
    time.sleep(20)

scores.sort(reverse=True)
with open(args.out, "w") as out:
    for z, chrom, snp in scores[:1000]:
        out.write("%s\t%s\t%.4f\n" % (chrom, snp, z))
print("top hit", scores[0] if scores else None)
