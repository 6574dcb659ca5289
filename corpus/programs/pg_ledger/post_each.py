import sys

import psycopg2

connection = psycopg2.connect(host="127.0.0.1", port=int(sys.argv[1]), user="postgres", dbname="postgres")
cursor = connection.cursor()
cursor.execute("create table if not exists posting (id serial primary key, account int, cents bigint)")
connection.commit()
for n in range(int(sys.argv[2])):
    cursor.execute("insert into posting (account, cents) values (%s, %s)", (n % 9, n * 37 % 1000 - 500))
    cursor.execute("select sum(cents) from posting where account = %s", (n % 9,))
    balance = cursor.fetchone()[0]
    connection.commit()
print("last balance", balance)
