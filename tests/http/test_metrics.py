"""What Prometheus is told."""

from __future__ import annotations

import re
import time

from tests.support.launch import child, configuration, toolbox

from .conftest import Serve
from .served import Served


def metrics(served: Served) -> dict[str, float]:
    answer = served.request("GET", "/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, float] = {}
    for line in answer.body.decode().splitlines():
        if not line.startswith("#"):
            assert re.fullmatch(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)+\})? [0-9.e+-]+', line), line
            name, _, value = line.rpartition(" ")
            found[name] = float(value)
    return found


def test_calls_errors_durations_servers_restarts_bytes_and_lost_lines_are_counted(serve: Serve) -> None:
    served = serve(configuration(dev=toolbox(**{'a"b\\c': child("echo")}), closed=toolbox(x=child("echo"))))
    server = 'a"b\\c'
    served.open("dev")
    for number in range(3):
        served.use(f"dev/{server}/echo", {"n": number})
    served.use(f"dev/{server}/raw", {"json": '{"content":[],"isError":true}'})
    served.use(f"dev/{server}/nonsense")
    served.use(f"dev/{server}/die")
    time.sleep(0.1)
    served.use(f"dev/{server}/echo")
    found = metrics(served)
    place = 'toolbox="dev",server="a\\"b\\\\c"'
    tool = place + ',tool="echo"'
    assert found[f"mcp_workbench_calls_total{{{tool}}}"] == 4
    assert found[f"mcp_workbench_call_errors_total{{{tool}}}"] == 0
    assert found[f'mcp_workbench_call_errors_total{{{place},tool="raw"}}'] == 1
    assert found[f'mcp_workbench_call_errors_total{{{place},tool="die"}}'] == 1
    assert found[f"mcp_workbench_call_duration_seconds_count{{{tool}}}"] == 4
    assert found[f'mcp_workbench_call_duration_seconds_bucket{{{tool},le="+Inf"}}'] == 4
    assert found[f"mcp_workbench_call_duration_seconds_sum{{{tool}}}"] > 0
    assert not any("nonsense" in name for name in found)  # made-up names would fill the memory
    assert found[f"mcp_workbench_server_open{{{place}}}"] == 1
    assert found['mcp_workbench_server_open{toolbox="closed",server="x"}'] == 0
    assert found[f"mcp_workbench_server_restarts_total{{{place}}}"] == 1
    assert found["mcp_workbench_http_received_bytes_total"] > 1000
    assert found["mcp_workbench_http_sent_bytes_total"] > 1000
    assert found["mcp_workbench_log_dropped_total"] == 0


def test_lines_that_the_log_lost_are_counted(serve: Serve) -> None:
    config = configuration(dev=toolbox(echo=child("echo")))
    served = serve({**config, "log": {"path": "/dev/full"}})
    served.open("dev")
    served.use("dev/echo/echo")
    served.use("dev/echo/echo")
    assert metrics(served)["mcp_workbench_log_dropped_total"] == 2
