import socket
import sys

host, port, questions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with socket.create_connection((host, port)) as s:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers = s.makefile("r")
    total = 0
    for n in range(questions):
        words = " ".join(str(n * k) for k in range(60))
        s.sendall(f"ECHO {words}\n".encode())
        total += sum(map(int, answers.readline().split()))
print(total)
