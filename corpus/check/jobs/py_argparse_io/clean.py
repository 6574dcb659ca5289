import argparse
import csv

parser = argparse.ArgumentParser()
parser.add_argument("--input", required=True)
parser.add_argument("--output", required=True)
options = parser.parse_args()
with open(options.input) as source, open(options.output, "w") as sink:
    writer = csv.writer(sink)
    for row in csv.reader(source):
        if row[1] != "NA":
            writer.writerow(row)
