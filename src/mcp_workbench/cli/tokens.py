"""What listings cost a model, in tokens. An estimate: the table of a real tokenizer is megabytes."""

from __future__ import annotations

import msgspec

from ..toolbox import Toolbox

BYTES_PER_TOKEN = 4.4
"""Of JSON and signatures of tools, counted with o200k on the listings of five servers (3.9 to 4.6)."""

COUNTED = f"Tokens are estimated, at {BYTES_PER_TOKEN} bytes each; o200k counts within a tenth of that."


class Cost(msgspec.Struct):
    """`tools_alone` is what the tools cost in a client that lists them without a workbench."""

    toolbox: str
    tools: int
    json: int
    signatures: int
    tools_alone: int

    @classmethod
    def of(cls, toolbox: Toolbox) -> Cost:
        definitions = [
            tool.definition for server in toolbox.servers.values() for tool in server.tools.values()
        ]
        return cls(
            toolbox=toolbox.config.name,
            tools=len(definitions),
            json=tokens(toolbox.listing("json")),
            signatures=tokens(toolbox.listing("signature")),
            tools_alone=sum(tokens(bytes(each)) for each in definitions),
        )


def tokens(text: bytes) -> int:
    return round(len(text) / BYTES_PER_TOKEN)
