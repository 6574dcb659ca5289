import random
import sqlite3
import sys

random.seed(1)
db = sqlite3.connect("readings.db")
db.execute("create table reading (sensor integer, at real, value real)")
for i in range(int(sys.argv[1])):
    db.execute("insert into reading values (?, ?, ?)", (i % 40, i * 0.5, random.gauss(20, 3)))
    db.commit()
for row in db.execute("select sensor, avg(value) from reading group by sensor limit 5"):
    print(*row)
