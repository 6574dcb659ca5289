"""Train the model (v3, final)."""
import csv


def read_data():
    rows = []
    with open(DATA) as handle:
        for row in csv.DictReader(handle):
            rows.append((float(row["x"]), float(row["y"])))
    return rows


DATA = "data/input.csv"

if __name__ == "__main__":
    print(len(read_data()))
