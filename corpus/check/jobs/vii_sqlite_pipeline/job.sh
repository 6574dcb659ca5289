#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
db=$(mktemp --suffix=.db)
trap 'rm -f "$db"' EXIT INT TERM
python3 <<EOF
import sqlite3, csv
con = sqlite3.connect("$db")
con.execute("CREATE TABLE IF NOT EXISTS m (site TEXT, t REAL)")
with open("obs.csv", newline="") as f:
    rows = [(r["site"], float(r["t"])) for r in csv.DictReader(f)]
con.executemany("INSERT INTO m VALUES (?, ?)", rows)
con.commit()
for site, mean in con.execute("SELECT site, AVG(t) FROM m GROUP BY site HAVING COUNT(*) > 1"):
    print(f"{site}: {mean:.1f} \$")
EOF
