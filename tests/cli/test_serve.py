from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path

from mcp_workbench.clients.known import CLIENTS

from .commands import COMMAND, PATIENCE, Place


def serving(place: Place, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "serve", "--http", "127.0.0.1:0", *arguments],
        cwd=place.project,
        env=place.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_program_reads_one_line_to_know_where_and_with_which_token(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with serving(place, "--json") as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            [address] = told["addresses"]
            with urllib.request.urlopen(address.replace("/mcp", "/healthz"), timeout=PATIENCE) as answer:
                assert answer.status == 200
            assert Path(told["token_file"]).read_text().strip()
            process.terminate()
            assert process.communicate(timeout=PATIENCE) == ("", "")
            assert process.returncode == 0
        finally:
            process.kill()


def test_people_are_told_what_to_do_in_every_client(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with serving(place) as process:
        try:
            assert process.stderr is not None
            heard = [process.stderr.readline() for _ in range(3 + len(CLIENTS))]
            assert [line.split(":")[0] for line in heard[3:]] == [client.title for client in CLIENTS]
            token = (place.home / ".local/state/mcp-workbench/http-token").read_text().strip()
            assert token not in "".join(heard)
        finally:
            process.terminate()
            process.wait(PATIENCE)
