"""How a workbench ends: cleanly, with the answers that it owes, and with nothing left running."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child, configuration, toolbox
from tests.support.processes import command

CONFIG = configuration(
    dev=toolbox(echo=child("echo"), modern=child("modern")),
    hard=toolbox(stubborn=child("stubborn", "family"), echo=child("echo")),
    slow=toolbox(hangs=child("starting", "hangs"), silent=child("probed", "silent")),
)


def leave(client: Client, how: str) -> None:
    client.remember_processes()
    if how == "stdin":
        client.close_input()
    else:
        client.signal(signal.Signals[how])


@pytest.mark.parametrize("how", ["stdin", "SIGTERM", "SIGINT"])
def test_a_workbench_that_did_nothing_ends_at_once(workbench: Launcher, how: str) -> None:
    client = workbench(CONFIG)
    client.initialize()
    leave(client, how)
    assert client.wait(2) == 0
    assert client.left_behind(0) == []


@pytest.mark.parametrize("how", ["stdin", "SIGTERM", "SIGINT"])
def test_servers_end_with_the_workbench(workbench: Launcher, how: str) -> None:
    client = workbench(CONFIG)
    client.open("dev")
    assert len(client.remember_processes()) >= 2
    leave(client, how)
    assert client.wait(4) == 0
    assert client.left_behind(0) == []
    assert "Traceback" not in client.stderr


EVERY_END = ("stdin", "SIGTERM", "SIGINT", "SIGKILL")


def all_gone_within(seconds: float, workbench: Launcher, clients: dict[str, Client]) -> None:
    """End each in its way, all at the same time, and see them and what they started gone."""
    began = time.monotonic()
    for how, client in clients.items():
        leave(client, how)
        workbench.expected_status[client] = -signal.SIGKILL if how == "SIGKILL" else 0
    for client in clients.values():
        status = client.wait(max(0, seconds - (time.monotonic() - began)))
        assert status == workbench.expected_status[client]
    for how, client in clients.items():
        # Who was killed cannot wait for its servers to go.
        patience = seconds - (time.monotonic() - began) if how == "SIGKILL" else 0
        assert (how, client.left_behind(patience)) == (how, [])


def test_stubborn_servers_and_their_families_are_gone_within_six_seconds(workbench: Launcher) -> None:
    clients = {how: workbench(CONFIG) for how in EVERY_END}
    for client in clients.values():
        client.open("hard")
        assert len(client.remember_processes()) >= 5
    all_gone_within(6 + 1, workbench, clients)  # a second for four at once on a busy machine


def test_a_workbench_that_was_killed_leaves_nothing(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.open("dev")
    all_gone_within(3, workbench, {"SIGKILL": client})


def test_a_toolbox_that_is_opening_is_given_up(workbench: Launcher) -> None:
    clients = {how: workbench(CONFIG) for how in ("stdin", "SIGKILL")}
    for client in clients.values():
        client.start_request("tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "slow"}})
        deadline = time.monotonic() + 3
        while len(client.remember_processes()) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
    all_gone_within(6, workbench, clients)


def start_slow(client: Client, ref: str, seconds: float) -> int:
    arguments = invocation(ref, {"seconds": seconds})
    return client.start_request("tools/call", {"name": "use_tool", "arguments": arguments})


def test_calls_in_flight_at_a_signal_are_answered(workbench: Launcher) -> None:
    clients = {how: workbench(CONFIG) for how in ("SIGTERM", "SIGINT")}
    ids: dict[str, list[int]] = {}
    for how, client in clients.items():
        client.open("dev")
        ids[how] = [start_slow(client, f"dev/{server}/slow", 1.5) for server in ("echo", "modern")]
    time.sleep(0.2)
    for how, client in clients.items():
        leave(client, how)
    for how, client in clients.items():
        assert client.wait(5) == 0
        for id in ids[how]:
            assert "slept" in text(client.response(id, timeout=0)["result"])


def test_a_call_longer_than_ten_seconds_does_not_hold_up_a_second_signal(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.open("dev")
    start_slow(client, "dev/echo/slow", 60)
    time.sleep(0.1)
    client.signal(signal.SIGTERM)
    time.sleep(0.2)
    client.signal(signal.SIGTERM)
    assert client.wait(3) == 0


def test_a_client_that_no_longer_reads_is_an_end_too(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.open("dev")
    client.remember_processes()
    start_slow(client, "dev/echo/slow", 60)
    client.close_input()
    assert client.wait(6) == 0
    assert client.left_behind(0) == []


def test_a_watchdog_that_was_killed_takes_no_child_into_the_open(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.open("dev")
    (watchdog,) = [each for each in client.remember_processes() if "watchdog.py" in command(each)]
    os.kill(watchdog.pid, signal.SIGKILL)
    time.sleep(0.2)
    assert text(client.use("dev/echo/echo", {"a": 1})) == '{"a": 1}'
    assert client.request("ping")["result"] == {}
    assert client.end() == 0
    assert client.left_behind(1) == []
