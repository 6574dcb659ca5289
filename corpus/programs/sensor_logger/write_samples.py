"""write_samples.py COUNT: a recorded log"""
import math
import sys

with open("samples.csv", "w") as out:
    for k in range(int(sys.argv[1])):
        out.write(f"{k * 0.2:.1f},{math.sin(k / 50) + k % 7 / 10:.4f}\n")
