import random
import sqlite3
import sys

# Everything in memory: no file is written.
rows = int(sys.argv[1])
db = sqlite3.connect(":memory:")
db.execute("create table item (id integer primary key, name text, shelf int)")
db.execute("create table move (item int, amount int, day int)")
random.seed(1)
with db:
    db.executemany("insert into item values (?, ?, ?)",
                   ((i, f"item {i}", random.randrange(50)) for i in range(2000)))
    db.executemany("insert into move values (?, ?, ?)",
                   ((random.randrange(2000), random.randrange(-5, 6), random.randrange(365))
                    for _ in range(rows)))
for low in range(0, 365, 15):
    found = db.execute(
        "select shelf, sum(amount) s, count(distinct item) from move join item on item.id = move.item "
        "where day between ? and ? group by shelf order by s desc", (low, low + 30)).fetchone()
    print(low, *found)
