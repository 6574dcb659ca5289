import queue
import socketserver
import threading
from socket import create_connection

tasks: queue.Queue = queue.Queue()


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        tasks.put(int(self.rfile.readline()))


with socketserver.TCPServer(("127.0.0.1", 0), Handler) as srv:
    threading.Thread(target=srv.serve_forever, daemon=True).start()
    for n in (3, 5, -1):
        with create_connection(srv.server_address) as s:
            s.sendall(b"%d\n" % n)
    total = 0
    seen = 0
    while True:
        n = tasks.get(timeout=10)
        seen += 1
        total += max(n, 0)
        if seen == 3:
            break
    srv.shutdown()
print("total", total)
