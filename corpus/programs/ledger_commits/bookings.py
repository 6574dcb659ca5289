import sqlite3
import sys

db = sqlite3.connect("ledger.db")
db.execute("create table booking (id integer primary key, account int, cents int)")
n = int(sys.argv[1])
for i in range(n):
    db.execute("insert into booking (account, cents) values (?, ?)", (i % 17, i * 37 % 5000))
    db.commit()
print(db.execute("select count(*), sum(cents) from booking").fetchone())
