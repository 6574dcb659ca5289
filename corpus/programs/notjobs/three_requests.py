"""Serves the three files that the cluster nodes fetch at their start, then ends."""
import threading
import urllib.request
from http.server import HTTPServer, SimpleHTTPRequestHandler

server = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
address = f"http://127.0.0.1:{server.server_port}/"
clients = [threading.Thread(target=urllib.request.urlopen, args=(address,)) for _ in range(3)]
for client in clients:
    client.start()
for _ in range(3):
    server.handle_request()
for client in clients:
    client.join()
server.server_close()
