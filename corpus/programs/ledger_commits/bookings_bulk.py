import sqlite3
import sys

# The same ledger, booked in one transaction, then a report for each account and month.
db = sqlite3.connect("ledger.db")
db.execute("create table booking (id integer primary key, account int, month int, cents int)")
n = int(sys.argv[1])
with db:
    db.executemany("insert into booking (account, month, cents) values (?, ?, ?)",
                   ((i % 997, i % 12, i * 37 % 5000) for i in range(n)))
for month in range(12):
    rows = db.execute("select account, sum(cents) over (order by account) from booking where month = ?", (month,))
    print(month, sum(1 for _ in rows))
