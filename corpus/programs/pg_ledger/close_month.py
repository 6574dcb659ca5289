"""Closes the month account by account; every step is its own statement."""
import sys
from contextlib import closing

import psycopg2

port, accounts = int(sys.argv[1]), int(sys.argv[2])
with closing(psycopg2.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres")) as db:
    db.autocommit = True
    with db.cursor() as run:
        run.execute("create table if not exists account (id int primary key, balance numeric, history text)")
        for n in range(accounts):
            run.execute("insert into account values (%s, %s, %s)", (n, n * 1.5, "opened;" * 20))
            run.execute("update account set balance = balance * 1.01 where id = %s returning history", (n,))
            history = run.fetchone()[0]
        run.execute("select sum(balance) from account")
        print(run.fetchone()[0], len(history))
