"""Commands on a page exist and do what it says: run in order, where somebody who got there would be."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import typer.main

from mcp_workbench.cli.app import app
from tests.clients.home import SECRETS, SERVER, lay_out
from tests.journal.calls import journal, write
from tests.remote.guarded import Guarded
from tests.support.launch import child, configuration, toolbox

from . import pages
from .pages import BLOCKS, ROOT, Block, written_in
from .reader import SERVING, Reader

CHAIN = ("18e82b5d7e0423f1c93c3", "18e82b5d7e0424f1c93c3", "18e82b5d7e0425f1c93c3")


def commands(block: Block) -> Iterator[tuple[str, str | None]]:
    """The commands of a block, and what each shows; where no line begins with a prompt, all are commands."""
    text = block.text.replace("\\\n", " ")
    if not text.startswith("$ "):
        yield from ((line, None) for line in text.splitlines() if line.strip())
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        yield line, shown


def every_command() -> list[Any]:
    """Those of blocks, and those within sentences."""
    lines = [(str(block), line) for block in written_in("sh", "console") for line, _ in commands(block)]
    lines += [
        (str(page.relative_to(ROOT)), " ".join(line.split()))
        for page in pages.PAGES
        for line in re.findall(r"(?<!`)`((?:mcp-workbench|make)\s[^`]+)`", page.read_text())
    ]
    return [
        pytest.param(words, id=f"{place}-{words}")
        for place, line in dict.fromkeys(lines)
        for part in re.split(r"&&|\||;", line.partition("  #")[0])
        if (words := part.strip()).startswith(("mcp-workbench ", "make "))
    ]


@pytest.mark.parametrize("line", every_command())
def test_a_command_exists_with_its_options(line: str) -> None:
    words = shlex.split(re.sub(r"[\[\]]", "", line.split(" > ")[0]), comments=True)
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[1] in targets
        return
    command: Any = typer.main.get_command(app)
    words = words[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    used = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert used <= known
    no_options = [word for word in words if not word.startswith("-")]
    assert no_options == [] or not hasattr(command, "commands"), "no such command"


PAGES = dict.fromkeys(block.page for block in written_in("sh", "console") if not block.not_run)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    with PREPARED[page](reader) or contextlib.nullcontext():
        for block in BLOCKS:
            if block.page == page and block.language in ("sh", "console") and not block.not_run:
                follow(reader, block)


def follow(reader: Reader, block: Block) -> None:
    for line, shown in commands(block):
        status, said = reader.run(line)
        if shown is not None:
            assert re.fullmatch(_pattern(shown), said), f"{block}: {line}\n{said}"
        elif SERVING.search(line):
            assert "MCP Workbench serves http://" in said, f"{block}: {line}\n{said}"
        else:
            assert status == 0, f"{block}: {line}\n{said}"


def _pattern(shown: str) -> str:
    """`…` stands for any lines, or for any part of one; how long something took is nobody's promise."""
    lines = [
        r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in shown.splitlines()
    ]
    return re.sub(r"\d+(?:\\\.\d+)?\\ (m?s)\b", r"[\\d.]+ \1", "".join(lines))


# Where somebody would be who has come to the commands of a page.


def new_to_it(reader: Reader) -> None:
    """With a client that has a server."""
    entry = {"command": sys.executable, "args": [str(SERVER), "memory"]}
    (reader.home / ".claude.json").write_text(json.dumps({"mcpServers": {"memory": entry}}))
    reader.answers = "\n" * 8  # what is proposed is fine


def with_every_client(reader: Reader) -> None:
    lay_out(reader.home, reader.project)
    (
        reader.project / ".cursor" / "mcp.json"
    ).unlink()  # a server that cannot start, which is for others to try
    variables = ("GITHUB_PERSONAL_ACCESS_TOKEN", "POSTGRES_PASSWORD", "SEARCH_API_KEY")
    reader.environ |= dict(zip(variables, SECRETS, strict=False))
    reader.environ |= {"SAMPLE_ZONE": "UTC", "TRACKER_KEY": "k"}


def with_mistakes(reader: Reader) -> None:
    servers = {
        "filesystem": {"command": "npx", "env": {"PORT": 8080}},
        "docs": {"url": "https://example.com/mcp", "header": {}},
    }
    reader.configure(configuration(dev=toolbox(**servers)))


def serving(reader: Reader) -> None:
    reader.configure({**configuration(), "http": {"listen": "127.0.0.1:0"}})


def with_a_log(reader: Reader) -> None:
    """Of a chain of three calls, whose last one failed; a call is logged when it ends."""
    root, api, parse = CHAIN
    began = datetime.fromisoformat("2025-03-15T02:29:40Z").timestamp()
    inner: dict[str, Any] = {"caller": f"weather_report_{root}", "parent": root, "root": root}
    paris = b'{"city": "Paris"}'
    reader.configure(configuration())
    log = journal(reader.write("log/ToolBox.log", ""))
    write(log, **inner, id=api, tool="weather_api", server="mine", args=paris, ts=began + 0.02, cost=0.187)
    write(log, **inner, id=parse, tool="parse", server="text", args=b'{"text": "sunny"}', ts=began + 0.21,
          cost=0.001, error="no temperature")  # fmt: skip
    write(log, id=root, tool="weather_report", server="mine", args=paris, ts=began, cost=0.231)


def with_servers(reader: Reader) -> None:
    reader.configure(configuration(dev=toolbox(math=child("echo"))))
    assert reader.run("git init -q")[0] == 0


@contextlib.contextmanager
def asked_to_log_in(reader: Reader) -> Iterator[None]:
    with Guarded() as guarded:
        reader.configure(configuration(dev=toolbox(docs={"url": guarded.url()})))
        yield


def with_a_recording(reader: Reader) -> None:
    config = configuration(dev=toolbox(mine={"path": "./tools"}))
    reader.configure({**config, "log": {"record": True}})
    for line in ("mcp-workbench new tool greet --folder tools", "mcp-workbench call dev/mine/greet who=Ann"):
        status, said = reader.run(line)
        assert status == 0, said


def anywhere(reader: Reader) -> None:
    return


PREPARED: dict[str, Callable[[Reader], contextlib.AbstractContextManager[None] | None]] = {
    "README.md": new_to_it,
    "docs/configuration.md": with_mistakes,
    "docs/getting-started.md": with_every_client,
    "docs/http.md": serving,
    "docs/log.md": with_a_log,
    "docs/performance.md": anywhere,
    "docs/pins.md": with_servers,
    "docs/remote-servers.md": asked_to_log_in,
    "docs/replay.md": with_a_recording,
    "docs/search.md": anywhere,
}
