#!/usr/bin/env python3
import csv

with open("images.csv") as source:
    images = list(csv.reader(source))
with open("weights.csv") as source:
    weights = [float(word) for row in csv.reader(source) for word in row]
print(len(images), sum(weights))
