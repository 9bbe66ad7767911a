"""The workbench of this tree beside those of others: CPU and wait of small calls, in pairs.

Slices take turns in shuffled order, and each is compared with the base's of the same turn. Everything is
started anew several times, since one process differs from the next by 5 %. Less than 2 % is not told even so:
for that, `bench.instructions` counts.

Run: `python -m bench.pairs OTHER/src [--starts 8] [--rounds 8] [--in-flight 1] [--size 20] [--json]`
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from .load import Pipes
from .process import Process
from .targets import HERE, Workbench

WARMING = 0.3
SLICE = 0.12
MEASURES = ("CPU", "wait")


class Tree(Workbench):
    def __init__(self, source: Path, number: int) -> None:
        super().__init__(name=f"tree{number}")
        self.source = source

    def start(self, folder: Path) -> Process:
        command, env = self.command(folder)
        env["PYTHONPATH"] = str(self.source)
        return Process(command, log=folder / f"{self.name}.log", env=env)


def compare(sources: list[Path], options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """For each tree and measure, its microseconds and its ratio to the first tree's."""
    taken: defaultdict[tuple[Path, str], list[float]] = defaultdict(list)
    ratios: defaultdict[tuple[Path, str], list[float]] = defaultdict(list)
    text = "x" * options.size
    trees = [Tree(source.resolve(), number) for number, source in enumerate(sources)]
    for _ in range(options.starts):
        with tempfile.TemporaryDirectory() as folder:
            running: list[tuple[Tree, Pipes]] = []
            for tree in random.sample(trees, len(trees)):
                pipes = Pipes(tree.start(Path(folder)))
                tree.greet(pipes)
                tree.open(pipes)
                pipes.measure(tree, text, options.in_flight, WARMING)
                running.append((tree, pipes))
            for _ in range(options.rounds):
                random.shuffle(running)
                found: dict[tuple[Path, str], float] = {}
                for tree, pipes in running:
                    sample = pipes.measure(tree, text, options.in_flight, SLICE)
                    found[tree.source, "CPU"] = sample.cpu / len(sample.latencies) / 1000
                    found[tree.source, "wait"] = median(sample.latencies) / 1000
                for (source, measure), value in found.items():
                    taken[source, measure].append(value)
                    ratios[source, measure].append(value / found[trees[0].source, measure])
            for _, pipes in running:
                pipes.process.end()
    return {
        str(tree.source): {
            key: value
            for measure in MEASURES
            for key, value in (
                (f"{measure}_us", median(taken[tree.source, measure])),
                (f"{measure}_ratio", median(ratios[tree.source, measure])),
            )
        }
        for tree in trees
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("others", nargs="+", type=Path, metavar="OTHER/src", help="the first is the base")
    parser.add_argument("--starts", type=int, default=8, help="how often everything is started anew")
    parser.add_argument("--rounds", type=int, default=8, help="slices of each, between two starts")
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--size", type=int, default=20, help="bytes of each call's text")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args()
    found = compare([*options.others, HERE.parent / "src"], options)
    if options.json:
        print(json.dumps(found))
        return
    for source, figures in found.items():
        told = (
            f"{name} {figures[f'{name}_us']:.1f} µs ({figures[f'{name}_ratio']:.3f} ×)" for name in MEASURES
        )
        print(f"{', '.join(told)}  {source}")


if __name__ == "__main__":
    main()
