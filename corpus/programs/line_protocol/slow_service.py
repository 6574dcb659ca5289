"""Ask a service to prepare a report and wait until it is ready."""
import socket
import sys

host, port, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3]
connection = socket.create_connection((host, port), timeout=120)
connection.sendall(b"WAIT " + seconds.encode() + b"\n")
reply = b""
while not reply.endswith(b"\n"):
    piece = connection.recv(4096)
    if not piece:
        raise SystemExit("the service hung up")
    reply += piece
print(reply.decode().strip())
connection.close()
