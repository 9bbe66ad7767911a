"""The JSON Schema of the configuration file, made from its structs; for editors, and for finding problems."""

from typing import Any

import msgspec

from .pasted import FOREIGN_KEYS, RENAMED
from .written import ConfigFile


def strict_schema() -> dict[str, Any]:
    """As the structs say: of a configuration without comments and without other clients' keys."""
    return msgspec.json.schema(ConfigFile)


def editor_schema() -> dict[str, Any]:
    """What `check --schema` prints: allows comments and, in servers, what other clients write there."""
    schema = strict_schema()
    for definition in schema["$defs"].values():
        definition["patternProperties"] = {"^[_$]": {"description": "A comment."}}
    server = schema["$defs"]["ServerEntry"]
    server["patternProperties"][f"^({'|'.join(FOREIGN_KEYS)})$"] = {
        "description": "Read as its client means it, or ignored."
    }
    addresses = [written for written, ours in RENAMED.items() if ours == "url"]
    server["oneOf"] = [{"required": [kind]} for kind in ("command", "url", "path", *addresses)]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "MCP Workbench", **schema}
