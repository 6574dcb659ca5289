from xmlrpc.server import SimpleXMLRPCServer

values = {}


def put(key, value):
    values[key] = value
    return True


server = SimpleXMLRPCServer(("0.0.0.0", 9000), allow_none=True, logRequests=False)
server.register_function(put)
server.register_function(values.get, "get")
server.serve_forever()
