"""Lines through real pipes: split, bounded, queued and in order."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import pytest

from mcp_workbench.wire.lines import LineReader, LineWriter


class Heard:
    """What a reader said, and a way to wait for its end."""

    def __init__(self, fd: int, max_line: int = 100) -> None:
        self.lines: list[bytes] = []
        self.overlong = 0
        self.ended = asyncio.Event()
        self.reader = LineReader(
            fd,
            on_line=lambda line: self.lines.append(bytes(line)),
            on_end=self.ended.set,
            on_overlong=self._on_overlong,
            max_line=max_line,
        )

    def _on_overlong(self) -> None:
        self.overlong += 1
        self.lines.append(b"(overlong)")


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def read(chunks: list[bytes], max_line: int = 100) -> Heard:
    """What is heard of these chunks, each of which is read by itself."""

    async def main() -> Heard:
        outlet, inlet = os.pipe()
        heard = Heard(outlet, max_line)
        for chunk in chunks:
            await asyncio.to_thread(_write_all, inlet, chunk)
            await asyncio.sleep(0.001)
        os.close(inlet)
        await asyncio.wait_for(heard.ended.wait(), 5)
        heard.reader.close()
        return heard

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b", b"c\nd", b"\n"], [b"abc", b"d"]),
        ([b"\n\n"], [b"", b""]),
        ([b"a\r\nb\xe2\x80\xa8\x0b\x0cc\n"], [b"a\r", b"b\xe2\x80\xa8\x0b\x0cc"]),
        ([b"no newline"], [b"no newline"]),
        ([b"a\nhalf"], [b"a", b"half"]),
        ([], []),
    ],
)
def test_lines_are_what_stands_between_newlines(chunks: list[bytes], lines: list[bytes]) -> None:
    assert read(chunks).lines == lines


@pytest.mark.parametrize(
    "chunks",
    [
        [b"before\n" + b"x" * 11 + b"\nafter\n"],
        [b"before\n", b"x" * 6, b"x" * 6, b"\nafter\n"],
        [b"before\n", b"x" * 50, b"x" * 50, b"x\nafter\n"],
        [b"before\n", b"x" * 10, b"x\nafter\n"],
        [b"before\n", b"x" * 11 + b"\n", b"after\n"],
    ],
)
def test_an_overlong_line_is_dropped_once_and_the_next_is_whole(chunks: list[bytes]) -> None:
    assert read(chunks, max_line=10).lines == [b"before", b"(overlong)", b"after"]


@pytest.mark.parametrize("chunks", [[b"x" * 5, b"x" * 5 + b"\n"], [b"x" * 10 + b"\n"]])
def test_a_line_of_exactly_the_limit_is_a_line(chunks: list[bytes]) -> None:
    assert read(chunks, max_line=10).lines == [b"x" * 10]


def test_lines_are_whole_whatever_was_asked_for_at_a_time() -> None:
    sizes = [1, 446, 447, 448, 449, 900, 2, 65_535, 65_536, 3, 1_200_000, 4, 500, 65_537]
    lines = [b"%d" % n * (size // len(b"%d" % n)) for n, size in enumerate(sizes)]
    together = [b"\n".join(lines) + b"\n"]
    for chunks in ([line + b"\n" for line in lines], together):
        assert read(chunks, max_line=2_000_000).lines == lines


@pytest.mark.parametrize("chunks", [[b"bad\ngood\n"], [b"bad\n", b"good\n"]])
def test_a_line_that_is_not_handled_costs_no_other(chunks: list[bytes]) -> None:
    async def main() -> list[bytes]:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        outlet, inlet = os.pipe()
        lines: list[bytes] = []

        def on_line(line: bytes | bytearray) -> None:
            lines.append(bytes(line))
            if line == b"bad":
                raise RuntimeError("our own mistake")

        ended = asyncio.Event()
        reader = LineReader(outlet, on_line=on_line, on_end=ended.set, on_overlong=lambda: None, max_line=100)
        for chunk in chunks:
            os.write(inlet, chunk)
            await asyncio.sleep(0.01)
        os.close(inlet)
        await asyncio.wait_for(ended.wait(), 5)
        reader.close()
        return lines

    assert asyncio.run(main()) == [b"bad", b"good"]


def test_a_paused_reader_loses_nothing() -> None:
    async def main() -> list[bytes]:
        outlet, inlet = os.pipe()
        heard = Heard(outlet)
        heard.reader.pause()
        os.write(inlet, b"a\nb\n")
        await asyncio.sleep(0.02)
        assert heard.lines == []
        heard.reader.resume()
        os.close(inlet)
        await asyncio.wait_for(heard.ended.wait(), 5)
        heard.reader.close()
        return heard.lines

    assert asyncio.run(main()) == [b"a", b"b"]


def written(work: Callable[[LineWriter, int], None], high: int = 1 << 20) -> tuple[bytes, list[str]]:
    """What arrives of what is written before anybody reads, and what the writer told about itself."""

    async def main() -> tuple[bytes, list[str]]:
        outlet, inlet = os.pipe()
        news: list[str] = []
        writer = LineWriter(
            inlet,
            on_full=lambda: news.append("full"),
            on_drained=lambda: news.append("drained"),
            on_broken=lambda: news.append("broken"),
            high=high,
        )
        work(writer, outlet)
        arrived = b""
        if "broken" not in news:
            reading = asyncio.create_task(asyncio.to_thread(_read_all, outlet))
            await writer.drain()
            writer.close()
            arrived += await reading
            os.close(outlet)
        return arrived, news

    return asyncio.run(asyncio.wait_for(main(), 20))


def _read_all(fd: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        return file.read()


def test_pieces_arrive_in_order_however_many_wait() -> None:
    lines = [b"%d:" % number + b"x" * (number % 3000) + b"\n" for number in range(2000)]

    def work(writer: LineWriter, _outlet: int) -> None:
        for line in lines:
            writer.write((line[:2], b"", line[2:]))

    arrived, news = written(work)
    assert arrived == b"".join(lines)
    assert news == ["full", "drained"]


def test_a_writer_whose_reader_has_gone_says_so_once() -> None:
    def work(writer: LineWriter, outlet: int) -> None:
        os.close(outlet)
        for _ in range(3):
            writer.write((b"x\n",))

    assert written(work) == (b"", ["broken"])
