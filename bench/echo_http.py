"""The echo server over HTTP: as little HTTP/1.1 as the load client needs, so that it is the limit there.

Run by path: `echo_http.py PORT`.
"""

import asyncio
import json
import sys

from echo import answer, tools

OFFERED = tools(1)


class Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.received) < end + 4 + length:
                return
            body = self.received[end + 4 : end + 4 + length]
            self.received = self.received[end + 4 + length :]
            self.reply(answer(json.loads(body), OFFERED))

    def reply(self, message: dict[str, object] | None) -> None:
        body = json.dumps(message, separators=(",", ":")).encode() if message is not None else b""
        status = b"200 OK" if body else b"202 Accepted"
        self.transport.write(
            b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
