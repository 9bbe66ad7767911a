"""Typed tools that give back their text, with and without `async`."""

from mcp_workbench import tool


@tool
def typed_sync(text: str) -> str:
    """Gives back its text."""
    return text


@tool
async def typed_async(text: str) -> str:
    """Gives back its text."""
    return text
