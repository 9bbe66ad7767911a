"""`mcp-workbench check`: is this configuration fine? Starts nothing and connects to nothing."""

import os
from typing import Annotated, Any

import msgspec
import typer

from ..config import (
    ChildConfig,
    Config,
    FolderConfig,
    Found,
    RemoteConfig,
    ServerConfig,
    embedded_default,
    find,
    load,
)
from ..config.schema import editor_schema
from ..errors import ConfigError, ConfigInvalid, ConfigProblem
from .table import print_json
from .terminal import counted, error, good, plain, warning


def check(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="The file; else the one that a start would use.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file.")] = False,
) -> None:
    """Check a configuration. Every problem has its place and its fix; status 1 if there is any."""
    if schema:
        print_json(editor_schema())
        return
    report = Report.of(path)
    if as_json:
        print_json(report.as_json())
    else:
        typer.echo("\n".join(report.lines()))
    raise typer.Exit(1 if report.problems else 0)


class Report(msgspec.Struct):
    """What is known of one configuration; `config` is None where it cannot be used."""

    path: str | None
    config: Config | None
    problems: list[ConfigProblem]
    warnings: list[str]

    @classmethod
    def of(cls, path: str | None) -> "Report":
        try:
            found = Found(path) if path else find(None, os.environ, os.getcwd())
            # Checking runs nothing, so a file that is not trusted yet is checked like any other.
            path = found.untrusted or found.path
            config = embedded_default(os.environ) if path is None else load(path, os.environ)
        except ConfigInvalid as invalid:
            return cls(invalid.path, None, list(invalid.problems), [])
        except ConfigError as unusable:
            problem = ConfigProblem("config", str(unusable), "Name a file that can be read")
            return cls(unusable.path, None, [problem], [])
        servers = [each for toolbox in config.toolboxes.values() for each in toolbox.servers.values()]
        missing = [server for server in servers if server.problem]
        told = {server.complaint for server in missing}
        warnings = [each for each in config.warnings if each not in told]
        warnings += [
            f"Server '{each.name}' in toolbox '{each.toolbox}' has no folder yet: {each.path}"
            for each in servers
            if isinstance(each, FolderConfig) and not os.path.isdir(each.path)
        ]
        if found.untrusted:
            warnings.append(f"{path} is not trusted, so a start does not use it: mcp-workbench trust")
        return cls(config.path, config, [_missing(server) for server in missing], warnings)

    def lines(self) -> list[str]:
        name = plain(self.path or "the embedded default")
        lines: list[str] = []
        for toolbox in self.config.toolboxes.values() if self.config else ():
            count = counted(len(toolbox.servers), "server")
            lines.append(f"{toolbox.name} ({count}): {plain(toolbox.description)}")
            lines += [
                f"  {plain(server.name)}: {plain(_source(server))}" for server in toolbox.servers.values()
            ]
        lines += [warning(each) for each in self.warnings]
        lines += [error(str(each)) for each in self.problems]
        lines.append(
            f"{name}: {counted(len(self.problems), 'problem')}" if self.problems else good(f"{name} is fine")
        )
        return lines

    def as_json(self) -> dict[str, Any]:
        toolboxes = self.config.toolboxes.values() if self.config else ()
        return {
            "path": self.path,
            "valid": not self.problems,
            "problems": [problem._asdict() for problem in self.problems],
            "warnings": self.warnings,
            "toolboxes": [
                {
                    "name": toolbox.name,
                    "description": toolbox.description,
                    "servers": [
                        {"name": server.name, "source": _source(server), "problem": server.problem}
                        for server in toolbox.servers.values()
                    ],
                }
                for toolbox in toolboxes
            ],
        }


def _missing(server: ServerConfig) -> ConfigProblem:
    place = f"server '{server.name}' in toolbox '{server.toolbox}'"
    return ConfigProblem(place, str(server.problem), "Set it, or give a default: ${NAME:-…}")


def _source(server: ServerConfig) -> str:
    """Where the tools come from, without arguments, credentials and queries: they may hold secrets."""
    match server:
        case ChildConfig():
            return f"command {server.command}"
        case RemoteConfig():
            from urllib.parse import urlsplit

            address = urlsplit(server.url)
            return f"url {address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
        case FolderConfig():
            return f"path {server.path}"
        case _:
            return "unknown"
