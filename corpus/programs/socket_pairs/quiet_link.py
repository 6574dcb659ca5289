"""Keeps a line to the observatory open and asks once a second whether there is news."""
import socket
import sys
import time

with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10) as link:
    news = 0
    for minute in range(int(sys.argv[3])):
        link.sendall(b"ECHO none\n")
        news += link.recv(64).strip() != b"none"
        time.sleep(1)
print(news, "messages")
