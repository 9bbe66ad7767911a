"""What find_tools says: a line for each tool, under its question where there are several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..names import ToolRef
from ..signatures import first_sentence, full, line

Detail = Literal["signature", "full"]
Define = Callable[[ToolRef], Mapping[str, Any]]

UNSEEN = ""
"""The name of what stands in the index for a toolbox whose tools were never seen."""


def unseen(toolbox: str, description: str, servers: Sequence[str]) -> tuple[ToolRef, dict[str, Any]]:
    """A toolbox that was never opened, to be put into the index as if it were a tool."""
    words = f"{toolbox} {description} {' '.join(servers)}"
    return ToolRef(toolbox, UNSEEN, UNSEEN), {"description": words, "title": description, "servers": servers}


def answer(
    queries: Sequence[str], shown: Sequence[Sequence[ToolRef]], define: Define, detail: Detail = "signature"
) -> str:
    """`shown` is what `merge` gave for these queries."""
    parts: list[str] = []
    for query, refs in zip(queries, shown, strict=True):
        lines = [_one(ref, define(ref), detail) for ref in refs]
        if len(queries) > 1:
            lines.insert(0, f"## {' '.join(query.split())}")
            if not refs:
                lines.append("Nothing more found.")
        elif not refs:
            lines.append("No tools found. Try other words, or open_toolbox to see all tools of a toolbox.")
        parts.append(("\n\n" if detail == "full" else "\n").join(lines))
    return "\n\n".join(parts)


def _one(ref: ToolRef, definition: Mapping[str, Any], detail: Detail) -> str:
    if ref.name == UNSEEN:
        servers = ", ".join(definition["servers"]) or "no servers"
        said = first_sentence(definition["title"])
        return f"{ref.toolbox} (a toolbox not opened yet; open_toolbox shows its tools; {servers}): {said}"
    return full(ref, definition) if detail == "full" else line(ref, definition)
