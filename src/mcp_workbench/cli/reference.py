"""The command reference, docs/commands.md, made from the signatures of the commands."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Union, cast, get_args, get_origin

import msgspec
import typer
from typer.models import ArgumentInfo, OptionInfo

HEAD = """\
# Commands

This page is made from the commands themselves; a test fails where the two differ, and
`python -m mcp_workbench.cli.reference > docs/commands.md` writes it anew.
`--help` after a command says the same.

`mcp-workbench` alone, or with `--config PATH` and nothing else, serves MCP on standard input and output:
that is what a client starts. It uses no command of this page.

| status | |
|---|---|
| 0 | done, and nothing is wrong |
| 1 | a problem, which was told on standard error or in the answer |
| 2 | a command line that makes no sense |
| 130 | ended by Ctrl-C; what goes on until then, `serve` and `logs --follow`, ends with 0 |

Which configuration is used: `--config`, else the variable `WORKBENCH_CONFIG`, else a trusted
`./workbench-config.json`, else your own; see [configuration](configuration.md). `--json` prints data
for programs on standard output, alone. Tables are cut to the width of a terminal, and coloured, only
where there is one.

**Completion.** `mcp-workbench --install-completion` teaches your shell (bash, zsh, fish) the commands,
their options, toolboxes and clients; `--show-completion` prints what it would install.

`mcp-workbench --version` prints the version.
"""


class Parameter(msgspec.Struct):
    """`shown` is how it is written on a command line."""

    shown: str
    help: str
    is_option: bool


def page() -> str:
    """The whole of the page."""
    from .app import app

    sections = ["\n".join(_section(name, function)) for name, function in sorted(_commands(app))]
    return "\n".join([HEAD, *sections])


def _commands(app: typer.Typer, before: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    for command in app.registered_commands:
        if command.callback is not None:
            yield before + (command.name or command.callback.__name__.replace("_", "-")), command.callback
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from _commands(group.typer_instance, f"{before}{group.name} ")


def _section(name: str, function: Callable[..., Any]) -> Iterator[str]:
    parameters = [_parameter(each) for each in inspect.signature(function, eval_str=True).parameters.values()]
    arguments = [each.shown for each in parameters if not each.is_option]
    options = ["[OPTIONS]"] if len(arguments) < len(parameters) else []
    yield f"## {name}\n"
    yield " ".join((inspect.getdoc(function) or "").split()) + "\n"
    yield "```text"
    yield " ".join(["mcp-workbench", name, *arguments, *options])
    yield "```\n"
    if parameters:
        yield "| | |"
        yield "|---|---|"
        for each in sorted(parameters, key=lambda each: each.is_option):
            yield f"| `{_cell(each.shown)}` | {_cell(each.help)} |"
        yield ""


def _parameter(parameter: inspect.Parameter) -> Parameter:
    kind, info = get_args(parameter.annotation)
    word = parameter.name.replace("_", "-")
    if isinstance(info, ArgumentInfo):
        shown = info.metavar or word.upper()
        optional = parameter.default is not inspect.Parameter.empty and not shown.startswith("[")
        return Parameter(f"[{shown}]" if optional else shown, info.help or "", False)
    assert isinstance(info, OptionInfo)
    kinds = _kinds(kind)
    flag = bool in kinds
    # Inside Annotated the first name stands in the place of a default.
    first = [info.default] if isinstance(info.default, str) else []
    names = [*first, *(info.param_decls or ())] or [f"--{word}", *([f"--no-{word}"] if flag else [])]
    value = "" if flag else f" {info.metavar or _value(kinds)}"
    return Parameter(", ".join(names) + value, info.help or "", True)


def _kinds(kind: Any) -> set[type]:
    """The types that a value may have: of `list[str] | None` it is `str`."""
    if get_origin(kind) in (Union, types.UnionType, list):
        return {each for inner in get_args(kind) for each in _kinds(inner) if each is not type(None)}
    return {cast("type", kind)}


def _value(kinds: set[type]) -> str:
    [kind] = kinds
    if issubclass(kind, Enum):
        return "|".join(str(choice.value) for choice in kind)
    return "NUMBER" if kind is int or kind is float else "TEXT"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
