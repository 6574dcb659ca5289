import sqlite3
base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE run (id INTEGER PRIMARY KEY, energy REAL)")
base.executemany("INSERT INTO run (energy) VALUES (?)", [(k / 3,) for k in range(9)])
password = None
token = "unused"
for (mean,) in base.execute("SELECT avg(energy) FROM run"):
    print(f"{mean:.2f}")
