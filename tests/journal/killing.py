"""A workbench killed while it logs 1,000 calls, as often as asked for: `python -m tests.journal.killing 20`.

What was answered must be in the log, whole, and its result on record. Killing of servers is for tests/faults.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from mcp_workbench.journal.log import Log
from mcp_workbench.journal.query import Query
from mcp_workbench.journal.recorded import recorded_calls
from tests.support.client import Client, invocation, is_response
from tests.support.launch import Launcher, child, configuration, toolbox

CALLS = 1000


class Round(NamedTuple):
    answered: set[int]
    logged: set[int]
    recorded: set[int]
    torn: int
    """Lines that readers have to skip."""


def kill_round(launcher: Launcher, *, after: int, record: bool) -> Round:
    """One workbench, killed when about `after` of the calls are answered."""
    config = configuration(dev=toolbox(echo=child("echo", limits={"concurrency": 64, "queue": CALLS})))
    client = launcher({**config, "log": {"record": record}})
    launcher.expected_status[client] = -signal.SIGKILL
    client.initialize()
    client.open("dev")
    before = len(client.messages)
    asked: dict[int, int] = {}
    asking = threading.Thread(target=_ask, args=(client, asked))
    asking.start()
    until = time.monotonic() + 30
    while len(client.messages) - before < after and time.monotonic() < until:
        time.sleep(0.0005)
    client.signal(signal.SIGKILL)
    client.wait()
    asking.join(10)
    path = Path(client.mark).parent / "log" / "ToolBox.log"
    with Log(str(path)) as log:
        found = [call.args for call, _ in log.calls(Query(tool=lambda name: name == "echo"), limit=2 * CALLS)]
        torn = log.skipped
    answered = {number for id, number in asked.items() if any(is_response(m, id) for m in client.messages)}
    recorded = [each.exchange.args for each in recorded_calls(str(path), "dev")]
    return Round(answered, {_number(args) for args in found}, {_number(args) for args in recorded}, torn)


def _ask(client: Client, asked: dict[int, int]) -> None:
    for number in range(CALLS):
        params = {"name": "use_tool", "arguments": invocation("dev/echo/echo", {"n": number})}
        try:
            asked[client.start_request("tools/call", params)] = number
        except OSError:
            return  # it is dead


def _number(args: Raw) -> int:
    return json.loads(bytes(args))["n"]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"{rounds} rounds of {CALLS} calls, with the seed {seed}", flush=True)
    chance = random.Random(seed)
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder, Launcher(Path(folder)) as launcher:
            record = number % 2 == 1
            done = kill_round(launcher, after=chance.randrange(CALLS), record=record)
            missing = done.answered - (done.logged & done.recorded if record else done.logged)
            print(
                f"{number + 1:3}: {len(done.answered)} answered, {len(done.logged)} logged, "
                f"{len(done.recorded)} recorded, {done.torn} torn, {len(missing)} missing",
                flush=True,
            )
            if missing:
                sys.exit(1)


if __name__ == "__main__":
    main()
