import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--method", choices=["euler", "rk4"], default="rk4")
parser.add_argument("--dt", type=float, required=True)
options = parser.parse_args()
print(options.method, options.dt)
