"""Which addresses are somebody's own."""

from __future__ import annotations

import asyncio

import pytest

from mcp_workbench.servers.remote.addresses import is_inside, is_link_local

INSIDE = [
    "127.0.0.1",
    "localhost",
    "10.0.0.1",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "2002:0a00:0001::1",
    "224.0.0.1",
    "nowhere.invalid",
]


@pytest.mark.parametrize("host", INSIDE)
def test_a_private_address_is_inside(host: str):
    assert asyncio.run(is_inside(host))


@pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700:4700::1111"])
def test_a_public_address_is_not_inside(host: str):
    assert not asyncio.run(is_inside(host))


def test_link_local_is_told_from_private():
    assert asyncio.run(is_link_local("169.254.169.254"))
    assert not asyncio.run(is_link_local("10.0.0.1"))
