"""`workbench-pins.json`: what was accepted, in a form that can be reviewed, committed and merged."""

from __future__ import annotations

import contextlib
import os
from typing import Any, TypeAlias

import msgspec

from ..errors import PinsUnusable
from .definition import digest, read, written

FILE_NAME = "workbench-pins.json"


class Pin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tool as it was accepted. The hash is what counts, and the definition what a reviewer sees."""

    sha256: str
    definition: Any

    @property
    def sound(self) -> bool:
        """Whether the two belong together; a reviewer cannot tell."""
        return digest(self.definition) == self.sha256

    @classmethod
    def of(cls, definition: object) -> Pin:
        return cls(digest(definition), definition)


Recorded: TypeAlias = dict[str, dict[str, dict[str, Pin]]]
"""Pins by toolbox, server and tool."""


class PinFile:
    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def beside(cls, config_path: str) -> PinFile:
        return cls(os.path.join(os.path.dirname(config_path), FILE_NAME))

    def stamp(self) -> object:
        """Another one where the file has changed; None where there is none."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def read(self) -> Recorded:
        """Nothing where there is no file. Raises PinsUnusable."""
        try:
            with open(self.path, "rb") as file:
                return msgspec.convert(read(file.read()), Recorded)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PinsUnusable(self.path, (error.strerror or str(error)).lower()) from None
        except (ValueError, RecursionError) as error:  # also from msgspec, and for bad UTF-8
            raise PinsUnusable(self.path, str(error)) from None

    def write(self, recorded: Recorded) -> None:
        """At once and as a whole. Raises PinsUnusable."""
        text = written(msgspec.to_builtins(recorded), indent=2) + "\n"
        place = os.path.realpath(self.path)  # a link stays one
        fresh = f"{place}.{os.getpid()}"
        try:
            with open(fresh, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(fresh, place)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(fresh)
            raise PinsUnusable(self.path, (error.strerror or str(error)).lower()) from None
