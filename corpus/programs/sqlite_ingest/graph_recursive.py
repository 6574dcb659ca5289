"""Shortest hop counts in a random graph with a recursive query; the database is in memory."""
import random
import sqlite3
import sys

nodes = int(sys.argv[1])
rng = random.Random(7)
con = sqlite3.connect(":memory:")
con.execute("CREATE TABLE edge (a INT, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID")
for _ in range(nodes * 3):
    con.execute("INSERT OR IGNORE INTO edge VALUES (?, ?)", (rng.randrange(nodes), rng.randrange(nodes)))
    con.commit()
far = 0
for start in range(nodes):
    hops, reached = con.execute(
        """WITH RECURSIVE walk(node, hops) AS (
             SELECT ?, 0 UNION SELECT b, hops + 1 FROM walk JOIN edge ON a = node WHERE hops < 12)
           SELECT max(best), count(*) FROM (SELECT min(hops) AS best FROM walk GROUP BY node)""",
        (start,),
    ).fetchone()
    far = max(far, hops)
print("diameter of the reachable part", far)
