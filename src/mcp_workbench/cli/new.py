"""`mcp-workbench new`: a starting file for a tool, and new toolboxes and servers in the configuration."""

import keyword
import os
import re
from typing import Annotated

import typer

from . import new_server
from .session import fail
from .table import print_json
from .terminal import good, plain

PLAIN = '''\
"""What {name} is for. Saved in a tool folder this file is a tool: the next call has it, without a restart."""

# How the tool is announced. name, description, type and properties are obligatory.
schema = {{
    "name": "{name}",
    "description": "Says hello; a model reads this to decide when to call the tool",
    "type": "object",
    "properties": {{
        # One entry for each argument, in JSON Schema.
        "who": {{"type": "string", "description": "Who to greet"}},
        "times": {{"type": "integer", "minimum": 1, "default": 1, "description": "How often"}},
    }},
    "required": ["who"],
}}


# The arguments fit the schema. "async def" is optional: a plain function runs in a thread.
async def default(request):
    arguments = request.params.arguments
    greeting = f"Hello, {{arguments['who']}}! " * arguments.get("times", 1)
    # Return text, data (a dict, a list, a number, a dataclass), or a whole result with "content".
    # To fail, raise: the caller gets the message, the call log the trace.
    return greeting.strip()


# Optional, async or plain: runs before this file is replaced or removed, and at shutdown.
# def destroy():
#     connection.close()
'''

TYPED = '''\
"""What {name} is for. Saved in a tool folder this file is a tool: the next call has it, without a restart.

The typed form needs pydantic in the interpreter that runs the folder.
"""

from mcp_workbench import Context, tool


# The signature is the schema: annotations, defaults, and descriptions from the docstring.
# "async def" is optional: a plain function runs in a thread. ctx is optional, and no argument of the tool.
@tool{options}
async def {function}(who: str, ctx: Context, times: int = 1) -> str:
    """Says hello; a model reads this to decide when to call the tool.

    Args:
        who: Who to greet
        times: How often
    """
    ctx.progress(0, times)
    # Return what the annotation says; it is announced as the output schema.
    # To fail, raise: the caller gets the message, the call log the trace.
    return " ".join([f"Hello, {{who}}!"] * times)


# Optional, async or plain: runs before this file is replaced or removed, and at shutdown.
# def destroy():
#     connection.close()
'''

new = typer.Typer(help="Begin a tool, a toolbox or a server.", no_args_is_help=True)
new.command()(new_server.toolbox)
new.command()(new_server.server)


@new.command()
def tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tool's name, and the file's.")],
    typed: Annotated[bool, typer.Option("--typed", help="The typed form, which needs pydantic.")] = False,
    folder: Annotated[
        str, typer.Option(metavar="FOLDER", help="The tool folder; made if need be.")
    ] = "tools",
    as_json: new_server.AsJson = False,
) -> None:
    """Write a commented tool file that works as it is. A file that is there is never overwritten."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", name):
        fail(
            f"{name!r} is no tool name: use 1 to 128 letters, digits, '_', '-' and '.', "
            "beginning with a letter or digit"
        )
    path = os.path.join(folder, f"{_identifier(name)}.py")
    try:
        write_tool(name, folder, typed)
    except OSError as failed:
        reason = "is there already" if os.path.lexists(path) else f"cannot be written: {failed.strerror}"
        fail(f"{path} {reason}")
    if as_json:
        print_json({"path": os.path.abspath(path), "tool": name})
        return
    typer.echo(good(f"{plain(path)} written."))
    typer.echo(f'A toolbox offers it with: "mcpServers": {{"mine": {{"path": "{plain(folder)}"}}}}')


def write_tool(name: str, folder: str, typed: bool) -> None:
    """Raises OSError, also where the file is there already."""
    _write(os.path.join(folder, f"{_identifier(name)}.py"), _text(name, typed))


def _text(name: str, typed: bool) -> str:
    if not typed:
        return PLAIN.format(name=name)
    function = _identifier(name)
    return TYPED.format(name=name, function=function, options="" if function == name else f'(name="{name}")')


def _identifier(name: str) -> str:
    word = re.sub(r"[.-]", "_", name)
    if word[0].isdigit():
        return f"tool_{word}"
    return f"{word}_" if keyword.iskeyword(word) else word


def _write(path: str, text: str) -> None:
    """With the modes that the worker asks for, whatever the umask: nobody else may write a tool."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o755, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(text)
