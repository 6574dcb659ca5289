"""load.py ROWS: clean.csv into warehouse.db"""
import csv
import itertools
import sqlite3
import sys

db = sqlite3.connect("warehouse.db", isolation_level=None)
db.execute("create table if not exists fact (source text, id integer, key text, value real)")
with open("clean.csv", newline="") as f:
    for row in itertools.islice(csv.reader(f), int(sys.argv[1])):
        db.execute("insert into fact values (?, ?, ?, ?)", row)
print(db.execute("select count(*), avg(value) from fact").fetchone())
