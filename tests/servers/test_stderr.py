"""A child's stderr: read to its end, the last of it kept, safe to quote."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from mcp_workbench.servers.stderr import Stderr


def last_words(said: bytes) -> str:
    async def main() -> str:
        outlet, inlet = os.pipe()
        stderr = Stderr(outlet)

        def speak() -> None:
            rest = said
            while rest:
                rest = rest[os.write(inlet, rest) :]
            os.close(inlet)

        threading.Thread(target=speak, daemon=True).start()
        await asyncio.wait_for(asyncio.shield(stderr.ended), 10)
        return stderr.last_words()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"one\ntwo\n", "one | two"),
        (b"no newline", "no newline"),
        (b"\x1b[1;31mred\x1b[0m\x07 \x1b]0;title\x07text\n", "red text"),
        (b"progress 1%\rprogress 2%\r\n", "progress 1% | progress 2%"),
        (b"bad \xff byte\n", "bad \ufffd byte"),
        (
            b"".join(b"line %d\n" % number for number in range(10)),
            " | ".join(f"line {n}" for n in range(4, 10)),
        ),
    ],
)
def test_the_last_words_are_one_plain_line(said: bytes, words: str) -> None:
    assert last_words(said) == words


def test_only_the_end_of_a_flood_is_kept() -> None:
    words = last_words(b"x" * 5_000_000 + b"\nthe end\n")
    assert words.endswith(" | the end")
    assert len(words) < 1000
