"""The files that a log consists of, held open for reading. What is in them is read elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b

# A file is known by its inode and its beginning: an inode alone is used again, a name moves on at rotation.
_BEGINNING = 4096
_BLOCK = 4096
# What goes on for longer without a newline is no line of ours.
_LONGEST = 16 << 20


class OpenFile:
    """One file of the log. It stays readable when it is rotated away or deleted."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.inode = os.fstat(descriptor).st_ino
        beginning = os.pread(descriptor, _BEGINNING, 0)
        # Up to the first line's end, since what follows may not be written yet.
        self.digest = blake2b(beginning.partition(b"\n")[0], digest_size=16).digest()
        self.has_lines = b"\n" in beginning or self.size > _BEGINNING

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def blocks(self, offset: int, length: int = _BLOCK) -> Iterator[tuple[int, bytes]]:
        """Whole lines from this offset on, in blocks of about this length, each with its offset.

        The end of the file that is no whole line (yet) is left out.
        """
        rest = b""
        while data := os.pread(self._descriptor, length, offset + len(rest)):
            data = rest + data
            end = data.rfind(b"\n") + 1
            if end:
                yield offset, data[:end]
            elif len(data) > _LONGEST:
                end = len(data)
            rest = data[end:]
            offset += end

    def line(self, offset: int) -> bytes:
        """The line that begins here, or nothing."""
        _, block = next(self.blocks(offset), (offset, b""))
        return block.partition(b"\n")[0]

    def close(self) -> None:
        os.close(self._descriptor)


def open_files(path: str) -> list[OpenFile]:
    """The log and its rotated files, the oldest first; those that are not there (any more) are left out."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except FileNotFoundError:
        return []
    numbers = [int(rest) for each in names if (rest := _number(each, name))]
    files: dict[int, OpenFile] = {}
    # The newest first: a rotation meanwhile then shows us a file under two names, and never hides one.
    for candidate in (path, *(f"{path}.{number}" for number in sorted(numbers))):
        try:
            file = OpenFile(os.open(candidate, os.O_RDONLY | os.O_CLOEXEC))
        except FileNotFoundError:
            continue
        if file.has_lines and file.inode not in files:
            files[file.inode] = file
        else:
            file.close()
    return list(reversed(files.values()))


def _number(name: str, log: str) -> str:
    rest = name.removeprefix(f"{log}.")
    return rest if rest != name and rest.isdecimal() else ""
