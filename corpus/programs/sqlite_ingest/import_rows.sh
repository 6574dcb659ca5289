#!/bin/sh
# load rows through the shell tool, one INSERT at a time
n=${1:-100}
db=orders.db
rm -f "$db"
sqlite3 "$db" 'create table orders (id integer primary key, customer text, cents integer);'
i=0
while [ "$i" -lt "$n" ]; do
    echo "insert into orders (customer, cents) values ('c$((i % 13))', $((i * 37 % 5000)));"
    i=$((i + 1))
done | sqlite3 "$db"
sqlite3 "$db" 'select customer, sum(cents) from orders group by 1 order by 2 desc limit 3;'
