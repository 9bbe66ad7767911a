"""The revisions of MCP that we speak, and the names that they reserve.

Up to 2025-11-25 a connection begins with `initialize` (the legacy era); from 2026-07-28 on every request
says for itself what it needs to say (the modern era).
"""

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
BATCHES = "2025-03-26"
"""The one revision in which several messages may come as one array."""

PREFIX = "io.modelcontextprotocol/"
VERSION = PREFIX + "protocolVersion"
CLIENT_INFO = PREFIX + "clientInfo"
CLIENT_CAPABILITIES = PREFIX + "clientCapabilities"
SERVER_INFO = PREFIX + "serverInfo"
LOG_LEVEL = PREFIX + "logLevel"
SUBSCRIPTION = PREFIX + "subscriptionId"

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
URL_ELICITATION = -32042


def is_modern(version: str) -> bool:
    return version in MODERN


def agreed(requested: str | None) -> str:
    """The legacy revision to go on with after an `initialize` that asks for this one."""
    return requested if requested in LEGACY else LEGACY[-1]
