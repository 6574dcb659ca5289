import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) as s:
    f = s.makefile("rw", encoding="utf-8")
    for line in open(sys.argv[2], encoding="utf-8"):
        f.write(line.strip() + "\n")
        f.flush()
        print(line.strip(), f.readline().strip(), sep="\t")
