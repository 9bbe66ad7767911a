"""A legacy server that cannot keep its output clean: banners, garbage, bad UTF-8, stray replies."""

from __future__ import annotations

from typing import Any

from wire import Fault, initialized, serve, text, tool, write

NOISE = (
    b"Welcome to the noisy server!\n"
    b"\n   \n\r\n"
    b"\xff\xfe\x00 not UTF-8\n"
    b'{"half": \n'
    b"[1, 2, 3]\n"
    b'"\xe2\x80\xa8 a line separator"\n'
    b'{"jsonrpc":"2.0","id":999999,"result":{}}\n'
    b'{"jsonrpc":"2.0","id":"1","result":{}}\n'
    b'{"jsonrpc":"2.0","id":null,"result":{}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/never_heard_of"}\n'
    b'{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}\n'
)


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    write(NOISE)
    match method:
        case "initialize":
            return initialized(params)
        case "tools/list":
            return {"tools": [tool("hello")]}
        case "tools/call":
            return text("hello \u2028 there")
        case _:
            raise Fault(-32601, "Method not found")


write(NOISE)
serve(answer)
