import random
import sqlite3
import sys

random.seed(1)
db = sqlite3.connect("readings.db")
db.execute("create table reading (sensor integer, at real, value real)")
with db:
    db.executemany(
        "insert into reading values (?, ?, ?)",
        ((i % 40, i * 0.5, random.gauss(20, 3)) for i in range(int(sys.argv[1]))),
    )
query = """select sensor, count(*), avg(value), avg(value * value) - avg(value) * avg(value)
           from reading group by sensor order by 4 desc"""
for row in db.execute(query).fetchmany(5):
    print(*row)
