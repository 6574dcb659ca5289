import asyncio


class Clock(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        self.transport.sendto(str(asyncio.get_event_loop().time()).encode(), address)


loop = asyncio.new_event_loop()
loop.run_until_complete(loop.create_datagram_endpoint(Clock, local_addr=("0.0.0.0", 3700)))
loop.run_forever()
