"""Where a server may send us: never into a private network that it only guesses at."""

from __future__ import annotations

import asyncio
import ipaddress
import socket


async def is_inside(host: str) -> bool:
    """Whether the host, or any address that its name has, is private, link-local or otherwise not public.

    A name that cannot be resolved counts as inside: nobody can say that it is not.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return True
    return any(not _is_public(str(address[0])) for *_, address in found)


async def is_link_local(host: str) -> bool:
    """Whether it is where clouds keep the secrets of their machines."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return True
    return any(_address(str(address[0])).is_link_local for *_, address in found)


def _is_public(text: str) -> bool:
    address = _address(text)
    return address.is_global and not address.is_multicast


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address
