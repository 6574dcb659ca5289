import threading
import xmlrpc.client
from xmlrpc.server import SimpleXMLRPCServer

server = SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
server.register_function(pow)
threading.Thread(target=server.serve_forever).start()
proxy = xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % server.server_address[1])
wrong = [n for n in range(3000) if proxy.pow(n, 2, 1009) != n * n % 1009]
server.shutdown()
print("wrong:", wrong)
