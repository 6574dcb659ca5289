import http.client
import queue
import sys
import threading
from urllib.parse import urlsplit

site = urlsplit(sys.argv[1])
workers, files = int(sys.argv[2]), int(sys.argv[3])
todo, sizes = queue.Queue(), queue.Queue()


def work():
    connection = http.client.HTTPConnection(site.hostname, site.port, timeout=60)
    while (n := todo.get()) is not None:
        connection.request("GET", f"/table/{25000 + n}")
        sizes.put(len(connection.getresponse().read()))
    connection.close()


threads = [threading.Thread(target=work) for _ in range(workers)]
for thread in threads:
    thread.start()
for n in range(files):
    todo.put(n)
for _ in threads:
    todo.put(None)
for thread in threads:
    thread.join()
print(sum(sizes.queue), "bytes in", sizes.qsize(), "tables")
