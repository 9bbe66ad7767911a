"""FastMCP's BM25 search on the same sets, run by an interpreter that has FastMCP; prints one JSON object.

Standard input: `{"sets": {name: {"tools", "queries", "texts"}}, "sizes": {size: {"tools", "queries"}},
"rounds": number, "texts": {name: [text]}}`. It also counts tokens, of ours (`texts`) and of its answers as it
sends them (without spaces) and as Python writes JSON (with spaces), since the tokenizer is installed here.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.server.transforms.search.base import serialize_tools_for_output_json
from fastmcp.tools.base import Tool, default_serializer


def tool(each: dict[str, Any], name: str) -> Tool:
    schema = {**each["input_schema"], "type": "object"}
    return Tool(name=name, description=each["description"], parameters=schema)


def unique(tools: list[dict[str, Any]]) -> list[Tool]:
    """FastMCP knows a tool by its name alone, so a name that is taken gets a number."""
    seen: dict[str, int] = {}
    named: list[Tool] = []
    for each in tools:
        count = seen[each["name"]] = seen.get(each["name"], 0) + 1
        named.append(tool(each, each["name"] if count == 1 else f"{each['name']}_{count}"))
    return named


async def found(tools: list[dict[str, Any]], queries: list[str], texts: int) -> dict[str, Any]:
    """What it finds for each query, as places in the list, how long that takes, and some answers in full."""
    ours = unique(tools)
    place = {each.name: number for number, each in enumerate(ours)}
    transform = BM25SearchTransform(max_results=10)
    started = time.process_time()
    await transform._search(ours, "warm up")  # builds the index; there is no other way to ask for that
    build = time.process_time() - started
    results: list[list[int]] = []
    seconds: list[float] = []
    answers: list[Any] = []
    for query in queries:
        started = time.process_time()
        hits = await transform._search(ours, query)
        seconds.append(time.process_time() - started)
        results.append([place[each.name] for each in hits])
        if len(answers) < texts:
            answers.append(serialize_tools_for_output_json(list(hits)[:5]))
    return {"build": build, "results": results, "seconds": seconds, "answers": answers}


def token_counter() -> Callable[[str], int]:
    """By the table that litellm carries; its code, which is large and asks the network, is not imported."""
    from importlib.util import find_spec

    spec = find_spec("litellm")
    places = spec.submodule_search_locations if spec is not None else None
    os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(
        next(iter(places or [""])), "litellm_core_utils", "tokenizers"
    )
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


async def main() -> None:
    logging.disable(logging.WARNING)  # it has one for each tool whose name has a space
    asked = json.load(sys.stdin)
    tokens = token_counter()
    answer: dict[str, Any] = {"sets": {}, "sizes": {}, "tokens": {}}
    for name, each in asked["sets"].items():
        answer["sets"][name] = await found(each["tools"], each["queries"], each["texts"])
    for size, each in asked["sizes"].items():
        runs = [await found(each["tools"], each["queries"], 0) for _ in range(asked["rounds"])]
        answer["sizes"][size] = [{"build": run["build"], "seconds": run["seconds"]} for run in runs]
    for name, texts in asked["texts"].items():
        theirs = answer["sets"][name].pop("answers")
        answer["tokens"][name] = {
            "ours": [tokens(text) for text in texts],
            "sent": [tokens(default_serializer(each)) for each in theirs],
            "spaced": [tokens(json.dumps(each, ensure_ascii=False)) for each in theirs],
        }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
