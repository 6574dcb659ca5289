import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--grid", required=True)
options = parser.parse_args()
rows = open(options.grid).read().splitlines()
assert os.environ["LABEL"] == "a b"
print(options.name, len(rows) * int(os.environ["N"]))
