import argparse
p = argparse.ArgumentParser()
p.add_argument("--alpha", type=float)
print("alpha,loss")
print(p.parse_args().alpha, 0.1, sep=",")
