"""`make bench-search`: how well and how fast tools are found, beside FastMCP's BM25 search in the same run.

Reads sets of `tools.jsonl` and `queries.jsonl` (their folder is the argument) and prints the tables. A whole
run, with the extra, also rewrites them in docs/search.md and keeps the figures in bench/results/search.json.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mcp_workbench.names import ToolRef
from mcp_workbench.search import Index, answer
from mcp_workbench.search.expansions import neighbours
from mcp_workbench.search.extra import installed, weights

HERE = Path(__file__).parent
ROOT = HERE.parent
RESULTS = HERE / "results" / "search.json"
DOCUMENT = ROOT / "docs" / "search.md"
CACHE = HERE / ".cache" / "search"
PEER = ("fastmcp==4.1.2", "tiktoken==0.14.0")
TABLE = "litellm==1.108.4"
SIZES = (500, 5_000, 50_000)
TEXTS = 200
ROUNDS = 3
"""Times are the least of so many runs with a fresh index: what else a machine does only adds to them."""

Tool = dict[str, Any]
Find = Callable[[str], list[int]]


class Set:
    """Tools, and queries with the tools that they need."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.tools = _lines(folder / "tools.jsonl")
        self.queries = _lines(folder / "queries.jsonl")
        self.ids = [tool["id"] for tool in self.tools]

    def figures(self, results: Sequence[Sequence[int]]) -> dict[str, float]:
        """`results` are places in the list of tools, ten to a query, the best first."""
        total: dict[str, float] = dict.fromkeys(("recall@1", "recall@5", "recall@10", "ndcg@5", "mrr"), 0.0)
        for query, found in zip(self.queries, results, strict=True):
            groups = [set(group) for group in query["gold"]]
            names = [self.ids[place] for place in found]
            for depth in (1, 5, 10):
                total[f"recall@{depth}"] += _recall(groups, names[:depth])
            total["ndcg@5"] += _ndcg(groups, names[:5])
            every = set[str]().union(*groups)
            total["mrr"] += next((1 / (n + 1) for n, name in enumerate(names) if name in every), 0.0)
        return {name: round(value / len(self.queries), 4) for name, value in total.items()}


def _recall(groups: list[set[str]], names: Sequence[str]) -> float:
    return sum(not group.isdisjoint(names) for group in groups) / len(groups)


def _ndcg(groups: list[set[str]], names: Sequence[str]) -> float:
    """A tool counts once for a group that no better one has met."""
    waiting = list(groups)
    gain = 0.0
    for place, name in enumerate(names):
        met = next((group for group in waiting if name in group), None)
        if met is not None:
            waiting.remove(met)
            gain += 1 / math.log2(place + 2)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(5, len(groups))))


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def definition(tool: Tool) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "inputSchema": tool["input_schema"]}


def built(tools: Sequence[Tool], index: Index) -> tuple[Find, float]:
    """Each server's tools in turn; a ref's toolbox is the place in the list, so that all are distinct."""
    servers: dict[str, list[tuple[ToolRef, dict[str, Any]]]] = {}
    for place, tool in enumerate(tools):
        ref = ToolRef(str(place), tool["server"], tool["name"])
        servers.setdefault(tool["server"], []).append((ref, definition(tool)))
    started = time.process_time()
    for server, offered in servers.items():
        index.put(("", server), offered)
    seconds = time.process_time() - started
    return (lambda query: [int(ref.toolbox) for ref, _ in index.find(query, 10)]), seconds


def asked(find: Find, queries: Sequence[str]) -> tuple[list[list[int]], list[float]]:
    results: list[list[int]] = []
    seconds: list[float] = []
    for query in queries:
        started = time.process_time()
        results.append(find(query))
        seconds.append(time.process_time() - started)
    return results, seconds


def pooled(sets: Sequence[Set], size: int) -> tuple[list[Tool], list[str]]:
    """Tools of all sets, shuffled, as often as it takes: copies are of another server. And 300 queries."""
    chance = random.Random(size)
    pool = [tool for each in sets for tool in each.tools]
    tools: list[Tool] = []
    while len(tools) < size:
        chance.shuffle(pool)
        copy = len(tools) // len(pool)
        tools += [{**tool, "server": f"{tool['server']} {copy}"} if copy else tool for tool in pool]
    queries = [query["query"] for each in sets for query in chance.sample(each.queries, 75)]
    chance.shuffle(queries)
    return tools[:size], queries


def memory(tools: Sequence[Tool]) -> float:
    """MiB that the index holds, the definitions not counted."""
    gc.collect()
    tracemalloc.start()
    index = Index()
    built(tools, index)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held / 2**20


def peer() -> Path:
    """An interpreter that has FastMCP and the tokenizer, made on first use."""
    python = CACHE / "bin" / "python"
    ready = CACHE / ".ready"
    if not ready.exists():
        print("installing FastMCP into a folder of its own …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(CACHE)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PEER], check=True)
        subprocess.run([*pip, "--no-deps", TABLE], check=True)
        ready.touch()
    return python


def measure_ours(
    sets: Sequence[Set], sizes: Sequence[int], make: Callable[[], Index], settle: Callable[[Any], None]
) -> dict[str, Any]:
    figures: dict[str, Any] = {"sets": {}, "sizes": {}, "texts": {}}
    for each in sets:
        print(f"  {each.name} …", file=sys.stderr)
        index = make()
        find, _ = built(each.tools, index)
        settle(index)
        results, _ = asked(find, [query["query"] for query in each.queries])
        figures["sets"][each.name] = each.figures(results)
        figures["texts"][each.name] = [
            text(each, query["query"], found)
            for query, found in zip(each.queries[:TEXTS], results, strict=False)
        ]
    for size in sizes:
        print(f"  {size} tools …", file=sys.stderr)
        tools, queries = pooled(sets, size)
        builds: list[float] = []
        seconds: list[list[float]] = []
        for _ in range(ROUNDS):
            find, build = built(tools, make())
            builds.append(build)
            seconds.append(asked(find, queries)[1])
        figures["sizes"][size] = {**times(builds, seconds), "memory_mib": round(memory(tools), 1)}
    return figures


def times(builds: Sequence[float], seconds: Sequence[Sequence[float]]) -> dict[str, float]:
    """Of several runs: how long building took, and how long each query."""
    least = sorted(map(min, zip(*seconds, strict=True)))
    return {
        "build_s": round(min(builds), 3),
        "p50_ms": round(least[len(least) // 2] * 1000, 2),
        "p95_ms": round(least[int(len(least) * 0.95)] * 1000, 2),
    }


def text(tools: Set, query: str, found: Sequence[int]) -> str:
    """The answer that an agent would get, under one toolbox's name."""
    refs = {
        ToolRef("tools", tools.tools[place]["server"], tools.tools[place]["name"]): place for place in found
    }
    return answer([query], [list(refs)], lambda ref: definition(tools.tools[refs[ref]]))


def measure_peer(sets: Sequence[Set], sizes: Sequence[int], texts: dict[str, list[str]]) -> dict[str, Any]:
    asked_of: dict[str, Any] = {"sets": {}, "sizes": {}, "rounds": ROUNDS, "texts": texts}
    for each in sets:
        queries = [query["query"] for query in each.queries]
        asked_of["sets"][each.name] = {"tools": each.tools, "queries": queries, "texts": TEXTS}
    for size in sizes:
        tools, queries = pooled(sets, size)
        # It takes most of a second for one query at 50,000.
        asked_of["sizes"][size] = {"tools": tools, "queries": queries[: 60 if size > 10_000 else None]}
    print("  FastMCP …", file=sys.stderr)
    done = subprocess.run(
        [str(peer()), str(HERE / "search_fastmcp.py")],
        input=json.dumps(asked_of),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    said = json.loads(done.stdout)
    return {
        "sets": {each.name: each.figures(said["sets"][each.name]["results"]) for each in sets},
        "sizes": {
            int(size): times([each["build"] for each in runs], [each["seconds"] for each in runs])
            for size, runs in said["sizes"].items()
        },
        "tokens": {
            name: {who: round(sum(counts) / len(counts)) for who, counts in each.items()}
            for name, each in said["tokens"].items()
        },
    }


def tables(figures: dict[str, dict[str, Any]]) -> str:
    names = ("recall@1", "recall@5", "recall@10", "ndcg@5", "mrr")
    lines = [f"| set | search | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for name in figures["default"]["sets"]:
        for who, each in figures.items():
            values = " | ".join(f"{each['sets'][name][figure]:.3f}" for figure in names)
            lines.append(f"| {name} | {who} | {values} |")
    lines += ["", "| tools | search | build | p50 | p95 | memory |", "|---|---|---|---|---|---|"]
    for size in figures["default"]["sizes"]:
        for who, each in figures.items():
            if size not in each["sizes"]:
                continue
            row = each["sizes"][size]
            held = f"{row['memory_mib']} MiB" if "memory_mib" in row else "–"
            took = f"{row['build_s']} s | {row['p50_ms']} ms | {row['p95_ms']} ms"
            lines.append(f"| {size:,} | {who} | {took} | {held} |")
    if "FastMCP" in figures:
        lines += [
            "",
            "| set | ten signatures | FastMCP's five, as sent | the same JSON with spaces |",
            "|---|---|---|---|",
        ]
        counts = figures["FastMCP"]["tokens"]
        total = {who: sum(each[who] for each in counts.values()) for who in ("ours", "sent", "spaced")}
        for name, each in {**counts, "all": total}.items():
            parts = [f"{each[who]:,} ({each['ours'] / each[who]:.0%})" for who in ("sent", "spaced")]
            lines.append(f"| {name} | {each['ours']:,} | {' | '.join(parts)} |")
    return "\n".join(lines)


def rewrite(document: Path, table: str) -> None:
    """Between the markers; what people wrote around them stays."""
    begin, end = "<!-- measured -->", "<!-- /measured -->"
    if document.exists() and begin in (text := document.read_text()):
        before, _, rest = text.partition(begin)
        document.write_text(f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}")


def semantic() -> Callable[[], Index] | None:
    """None where the extra or its weights are not installed."""
    where = weights()
    if not installed() or where is None:
        return None
    from mcp_workbench.search.minilm import MiniLM
    from mcp_workbench.search.semantic import SemanticIndex

    model = MiniLM(where)
    return lambda: SemanticIndex(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared" / "data" / "retrieval")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="how many tools to time")
    parser.add_argument("--semantic", action="store_true", help="measure the extra too; takes many minutes")
    parser.add_argument("--alone", action="store_true", help="without FastMCP, and so without token counts")
    options = parser.parse_args()
    sets = [Set(folder) for folder in sorted(options.data.iterdir()) if (folder / "tools.jsonl").exists()]
    if not sets:
        parser.error(f"no sets in {options.data}")
    neighbours("warm")  # the table is read once, by whoever asks first

    print("default", file=sys.stderr)
    figures = {"default": measure_ours(sets, options.sizes, Index, lambda _: None)}
    texts = figures["default"].pop("texts")
    if options.semantic and (make := semantic()) is not None:
        print("with the extra", file=sys.stderr)
        figures["semantic"] = measure_ours(sets, (), make, lambda index: index.read_all())
        del figures["semantic"]["texts"]
    if not options.alone:
        figures["FastMCP"] = measure_peer(sets, options.sizes, texts)
    table = tables(figures)
    print(table)
    if len(figures) == 3 and tuple(options.sizes) == SIZES:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
        rewrite(DOCUMENT, table)
    else:
        print("A part of the figures: docs/search.md stays as it is.", file=sys.stderr)


if __name__ == "__main__":
    main()
