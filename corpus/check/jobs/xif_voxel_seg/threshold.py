import argparse

p = argparse.ArgumentParser()
p.add_argument("image")
p.add_argument("--threshold", type=float, default=50)
a = p.parse_args()
for line in open(a.image):
    print(" ".join("1" if float(v) >= a.threshold else "0" for v in line.split()))
