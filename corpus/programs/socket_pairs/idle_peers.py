"""Local server and clients that mostly keep quiet; everybody leaves after some seconds."""
import selectors
import socket
import sys
import threading
import time


def client(port, seconds, number):
    with socket.create_connection(("127.0.0.1", port)) as s:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            s.sendall(b"still here %d\n" % number)
            time.sleep(0.7 + number / 10)


seconds = float(sys.argv[1])
listener = socket.create_server(("127.0.0.1", 0))
threads = [threading.Thread(target=client, args=(listener.getsockname()[1], seconds, n)) for n in range(3)]
for t in threads:
    t.start()
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
lines = left = 0
while left < len(threads):
    for key, _ in selector.select():
        if key.fileobj is listener:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
            continue
        data = key.fileobj.recv(4096)
        if not data:
            selector.unregister(key.fileobj)
            key.fileobj.close()
            left += 1
        lines += data.count(b"\n")
print(lines, "lines")
