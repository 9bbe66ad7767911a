"""Server-sent events, however the network cuts them into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from mcp_workbench.servers.remote.events import Event, EventReader
from mcp_workbench.servers.remote.failures import TooLong

STREAM = (
    b"\xef\xbb\xbf: hello\n\n"
    b"id: 1\nretry: 250\ndata:\n\n"
    b'data: {"a":\ndata: 1}\n\n'
    b"event: endpoint\r\ndata: /messages?x=1\r\n\r\n"
    b"event:ping\rdata\r\r"
    b"unknown: field\n\n"
    b"retry: 1234567890\nretry: soon\nid: b\0d\ndata:  two spaces: one is kept\n\n"
    b"data: ends with a line's whole end and half of one\r\n\n"
    b"data: never finished\n"
)
EVENTS = [
    Event(data=b"", id="1", retry=0.25),
    Event(data=b'{"a":\n1}'),
    Event(kind=b"endpoint", data=b"/messages?x=1"),
    Event(kind=b"ping", data=b""),
    Event(data=b" two spaces: one is kept"),
    Event(data=b"ends with a line's whole end and half of one"),
]


def test_events_are_the_same_byte_by_byte():
    reader = EventReader(1000)
    assert [event for byte in STREAM for event in reader.feed(bytes([byte]))] == EVENTS


def test_a_byte_order_mark_is_one_at_the_beginning_only():
    reader = EventReader(1000)
    assert list(reader.feed(b"\xef\xbb")) == []
    assert list(reader.feed(b"\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n")) == [Event(data=b"a")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_in_whatever_pieces_they_come(cuts: list[int]):
    places = [0, *sorted(cuts), len(STREAM)]
    reader = EventReader(1000)
    found = [event for start, end in pairwise(places) for event in reader.feed(STREAM[start:end])]
    assert found == EVENTS


def test_an_event_over_the_limit_is_refused_before_it_has_ended():
    reader = EventReader(100)
    assert list(reader.feed(b"data: " + b"x" * 50 + b"\n\n")) == [Event(data=b"x" * 50)]
    assert list(reader.feed(b"data: " + b"x" * 50)) == []
    with pytest.raises(TooLong):
        list(reader.feed(b"x" * 50))
