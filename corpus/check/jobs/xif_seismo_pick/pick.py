"""STA/LTA picker."""
import sys

x = [float(l) for l in open(sys.argv[1])]
sta, lta = 2, 6
with open(sys.argv[2], "w") as fh:
    fh.write("sample,ratio\n")
    for i in range(lta, len(x)):
        s = sum(abs(v) for v in x[i - sta + 1:i + 1]) / sta
        l = sum(abs(v) for v in x[i - lta + 1:i + 1]) / lta
        if l and s / l > 2:
            fh.write("%d,%.2f\n" % (i, s / l))
