import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--grid")
print(len(open(parser.parse_args().grid).readlines()))
