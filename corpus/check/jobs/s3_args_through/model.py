import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float)
parser.add_argument("--steps", type=int)
parser.add_argument("--name")
parser.add_argument("files", nargs="+")
known, rest = parser.parse_known_args()
print(known.rate * known.steps, known.name, rest)
