"""Where we listen: addresses as people write them, and the sockets of those."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import stat

import msgspec

from ..errors import WorkbenchError

BACKLOG = 2048


class CannotListen(WorkbenchError):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"cannot listen on {where}: {reason}")


class Address(msgspec.Struct, frozen=True):
    """A host and a port; the host as a socket wants it, IPv6 without brackets."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> Address:
        """`HOST:PORT`, `:PORT` for every interface, or `PORT` for this machine alone. Raises CannotListen."""
        host, colon, port = text.rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            raise CannotListen(text, "an address is HOST:PORT")
        if not colon:
            return cls("127.0.0.1", int(port))
        return cls(host.strip("[]") or "0.0.0.0", int(port))

    @property
    def loopback(self) -> bool:
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def everywhere(self) -> bool:
        """Whether it stands for every interface."""
        return self.host in ("0.0.0.0", "::")

    @property
    def bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def __str__(self) -> str:
        return f"{self.bracketed}:{self.port}"

    def open(self) -> socket.socket:
        """Raises CannotListen."""
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listening = socket.socket(family, kind, protocol)
            try:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listening.bind(where)
                listening.listen(BACKLOG)
                listening.setblocking(False)
            except OSError:
                listening.close()
                raise
        except OSError as error:
            raise CannotListen(str(self), (error.strerror or str(error)).lower()) from None
        return listening


def open_unix(path: str) -> socket.socket:
    """A Unix socket for this user alone, in place of one that nobody listens on. Raises CannotListen."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        mask = os.umask(0o177)  # from the start: a moment is enough to connect
        try:
            listening.bind(path)
        finally:
            os.umask(mask)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise CannotListen(path, (error.strerror or str(error)).lower()) from None
    return listening


def _remove_stale(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            raise FileExistsError(None, "a file is there that is no socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
                return
        raise OSError(None, "somebody listens there already")
