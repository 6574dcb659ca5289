"""Reads postings once and fits a seasonal model by coordinate descent."""
import sys

import psycopg2

port, count, sweeps = map(int, sys.argv[1:])
with psycopg2.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres") as connection:
    with connection.cursor() as cursor:
        cursor.execute(
            "select n, 100 + 20 * sin(n / 9.0) + (n * 7919 %% 100) / 10.0 from generate_series(1, %s) n", (count,)
        )
        rows = [(n, float(value)) for n, value in cursor]

periods = (7, 12, 30, 57, 365)
effects = {p: [0.0] * p for p in periods}
for sweep in range(sweeps):
    for p in periods:
        sums, counts = [0.0] * p, [0] * p
        for n, value in rows:
            rest = value - sum(effects[q][n % q] for q in periods if q != p)
            sums[n % p] += rest
            counts[n % p] += 1
        effects[p] = [s / (c + 0.5) for s, c in zip(sums, counts)]
    if sweep >= count:
        break
error = sum((v - sum(effects[q][n % q] for q in periods)) ** 2 for n, v in rows) / len(rows)
print(f"{error:.4f}")
