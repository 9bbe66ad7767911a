"""How HTTP fails a request, told apart by what may be done about it.

Unanswered
├── NotReached        nothing was sent: whoever wants may try again
├── ServerTrouble     a status of 500 and more: the server, or a proxy before it, is not well
├── Cut               the connection ended before the answer came; the tool may have run
│   └── NotRepeated
├── SessionLost       the server has forgotten the session; nothing was run
├── LoginNeeded       a person has to log in
├── NotRefreshed      a login could not be refreshed this time; the next request tries again
└── Refused           anything else that is no answer: a body that makes no sense, for one
    ├── BadStatus         below 500
    ├── BadRedirect       not followed
    └── TooLong           over limits.maxLine
"""

from __future__ import annotations

from ...config import RemoteConfig
from ...errors import Unanswered
from ...names import ToolRef


class NotReached(Unanswered):
    """`final` where another attempt would end the same way: a name that does not exist, a bad certificate."""

    def __init__(self, origin: str, cause: str, *, final: bool = False) -> None:
        self.final = final
        super().__init__(f"{origin} cannot be reached: {cause}")


class ServerTrouble(Unanswered):
    def __init__(self, status: int, phrase: str, said: str) -> None:
        self.status = status
        super().__init__(_status_line(status, phrase, said))


class Cut(Unanswered):
    def __init__(self, during: str = "before the answer came") -> None:
        super().__init__(f"the connection was cut {during}")


class NotRepeated(Cut):
    def __init__(self) -> None:
        super().__init__(
            "during the call, which was not repeated because the tool does not say that it is "
            "read-only or idempotent"
        )


class SessionLost(Unanswered):
    def __init__(self) -> None:
        super().__init__("the server has ended the session")


class LoginNeeded(Unanswered):
    def __init__(self, config: RemoteConfig, why: str = "it needs a login") -> None:
        super().__init__(f"{why}; run: {_login(config)}")


class NotRefreshed(Unanswered):
    def __init__(self, config: RemoteConfig, status: int, phrase: str) -> None:
        said = _status_line(status, phrase, "")
        super().__init__(
            f"its login could not be refreshed ({said}), which the next call tries again; "
            f"if that lasts, run: {_login(config)}"
        )


class Refused(Unanswered):
    pass


class TooLong(Refused):
    def __init__(self, limit: int) -> None:
        super().__init__(f"its answer is over limits.maxLine ({limit} bytes)")


class BadStatus(Refused):
    def __init__(self, status: int, phrase: str, said: str, hint: str = "") -> None:
        self.status = status
        super().__init__(_status_line(status, phrase, said) + hint)


class BadRedirect(Refused):
    def __init__(self, target: str, why: str) -> None:
        super().__init__(f"its redirect to {target} was not followed: {why}")


def _login(config: RemoteConfig) -> str:
    place = str(ToolRef(config.toolbox, config.name, "")).rstrip("/")
    return f"mcp-workbench login {place}"


def _status_line(status: int, phrase: str, said: str) -> str:
    line = f"HTTP {status} {phrase}".rstrip()
    return f"{line}: {said}" if said else line
