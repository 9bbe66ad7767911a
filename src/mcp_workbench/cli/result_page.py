"""A tool's result for a person: text as text, pictures and sounds as files."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
import re
import sys
import tempfile
from typing import Any

import typer

from .table import print_json
from .terminal import plain


class ResultPage:
    """`folder` is where files go; without one, a fresh temporary folder, once there is a file."""

    def __init__(self, tool: str, folder: str | None) -> None:
        self._stem = re.sub(r"[^\w.-]", "_", tool)
        self._folder = folder
        self._files = 0

    def show(self, result: dict[str, Any]) -> None:
        content: list[dict[str, Any]] = result.get("content") or []
        for block in content:
            self._block(block)
        if not content and "structuredContent" in result:
            print_json(result["structuredContent"])

    def _block(self, block: dict[str, Any]) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                _text(text)
            case {"type": "image" | "audio", "data": str(data)}:
                self._file(data, block.get("mimeType"))
            case {"type": "resource", "resource": {"text": str(text)}}:
                _text(text)
            case {"type": "resource", "resource": {"blob": str(data), **about}}:
                self._file(data, about.get("mimeType"))
            case {"type": "resource_link", "uri": str(uri)}:
                typer.echo(plain(uri))
            case _:
                print_json(block)

    def _file(self, data: str, kind: object) -> None:
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            typer.echo("A file that is no valid base64 was left out.", err=True)
            return
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="mcp-workbench-")
        os.makedirs(self._folder, exist_ok=True)
        ending = mimetypes.guess_extension(kind) if isinstance(kind, str) else None
        while True:
            self._files += 1
            path = os.path.join(self._folder, f"{self._stem}-{self._files}{ending or '.bin'}")
            try:
                with open(path, "xb") as file:
                    file.write(content)
                break
            except FileExistsError:
                continue
        typer.echo(f"{path} ({len(content):,} bytes)")


def _text(text: str) -> None:
    if sys.stdout.isatty():
        # Line breaks and tabs are the text's own; the rest could do anything to a terminal.
        text = "\n".join("\t".join(map(plain, line.split("\t"))) for line in text.split("\n"))
    typer.echo(text)
