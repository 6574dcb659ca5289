import sys
from utils.io_helpers import read_table


def main():
    rows = read_table(sys.argv[1])
    total = sum(int(r[1]) for r in rows)
    print("genes", len(rows), "reads", total)


main()
