import code
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])


def rows(sql, *values):
    return db.execute(sql, values).fetchall()


code.interact(banner="rows(sql, ...) queries the database", local={"db": db, "rows": rows})
