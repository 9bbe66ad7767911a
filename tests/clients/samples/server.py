"""A small MCP server for the sample configurations, on the standard library alone."""

import json
import sys

NAME = sys.argv[1] if len(sys.argv) > 1 else "sample"
SCHEMAS = {
    "describe": {"type": "object", "properties": {}},
    "repeat": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["text"],
    },
    "forget": {"type": "object", "properties": {}},
}
TOOLS = [
    {
        "name": name,
        "description": f"What {NAME} can do: {name}.",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": name != "forget"},
    }
    for name, schema in SCHEMAS.items()
]


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": NAME, "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    arguments = params.get("arguments") or {}
    if params["name"] == "repeat":
        text = " ".join([arguments["text"]] * arguments.get("times", 1))
    else:
        text = f"{params['name']} of {NAME}"
    return {"content": [{"type": "text", "text": text}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in ("initialize", "tools/list", "tools/call"):
        reply["result"] = answer(message["method"], message.get("params") or {})
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(reply), flush=True)
