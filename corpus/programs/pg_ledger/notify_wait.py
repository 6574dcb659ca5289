"""LISTEN for orders; ends when nothing came for some seconds."""
import select
import sys

import psycopg2
import psycopg2.extensions

port, patience = int(sys.argv[1]), float(sys.argv[2])
connection = psycopg2.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres")
connection.set_isolation_level(psycopg2.extensions.ISOLATION_LEVEL_AUTOCOMMIT)
cursor = connection.cursor()
cursor.execute("listen orders")
cursor.execute("notify orders, 'first'")
while True:
    ready, _, _ = select.select([connection], [], [], patience)
    if not ready:
        print("no more orders")
        break
    connection.poll()
    while connection.notifies:
        print("order:", connection.notifies.pop(0).payload)
