"""Server entries as other clients write them: Claude, Cursor, VS Code, Windsurf, Cline, Gemini.

What means the same here is read so, what means nothing here is ignored, and what would change its meaning
by being ignored is refused.
"""

import re
from typing import Any

from .place import Place, as_object, quoted, server_entries, written
from .problems import Problem

RENAMED = {"httpUrl": "url", "serverUrl": "url", "transportType": "transport"}

_INCLUDING = ("includeTools", "tools")
_EXCLUDING = ("excludeTools", "disabledTools")

# Approvals, labels and conveniences of an editor. `timeout` is here because Cline means seconds by it, and
# Gemini and Claude Code milliseconds.
IGNORED = frozenset(
    """alwaysAllow autoApprove trust alwaysLoad timeout initTimeout longRunning
    icon iconUrl gallery registry version title displayName description extension
    dev isActive remoteConfigured""".split()
)

REFUSED = {
    "enabled": 'Write "disabled": true to leave a server out',
    "oauth": 'Write "auth": {"type": "oauth", "clientId": "…", "scopes": [...]}, or leave it out',
    "headersHelper": 'Put the header into "headers", with ${NAME} for the secret',
    "authProviderType": 'Use "auth", or a header with ${NAME} for the secret',
    "targetAudience": 'Use "auth", or a header with ${NAME} for the secret',
    "targetServiceAccount": 'Use "auth", or a header with ${NAME} for the secret',
    "sandbox": "Remove it if the server may run without, or put a sandbox into command and args",
    "sandboxEnabled": "Remove it if the server may run without, or put a sandbox into command and args",
    "tcp": 'WebSockets are not supported: use "command" or "url"',
}

# Headers that each message and each connection has from whoever sends it.
_OF_A_MESSAGE = {"content-length", "transfer-encoding"}
_OF_A_CONNECTION = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"}

FOREIGN_KEYS = sorted({*RENAMED, *_INCLUDING, *_EXCLUDING, *IGNORED})

_BARE_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")


class Adaptation:
    """Rewrites the server entries of `data` in place, and tells what it could not keep."""

    def __init__(self, data: object) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        ignored: list[str] = []
        for place, entry in server_entries(data):
            ignored += [written((*place, key)) for key in entry if key in IGNORED]
            self._adapt(place, entry)
        if ignored:
            self.warnings.insert(0, f"Ignored, as keys of other clients: {', '.join(ignored)}")

    def _adapt(self, place: Place, entry: dict[str, Any]) -> None:
        for key in [key for key in entry if key in IGNORED or key in REFUSED]:
            value = entry.pop(key)
            # Switched off, a refused key asks for nothing.
            if key in REFUSED and value is not (key == "enabled"):
                self._refuse(place, key, "This key of another client has no counterpart here", REFUSED[key])
        for key, ours in RENAMED.items():
            if key in entry and ours in entry:
                self._refuse(place, key, f"The same as {quoted(ours)}", "Keep one of them")
                del entry[key]
            elif key in entry:
                entry[ours] = entry.pop(key)
        self._filter(place, entry)
        self._sift_headers((*place, "headers"), as_object(entry.get("headers")))
        self._look_for_bare_variables(place, entry)

    def _filter(self, place: Place, entry: dict[str, Any]) -> None:
        """Lists of tools to offer or to hide become `toolFilters`."""
        lists = {key: entry.pop(key) for key in (*_INCLUDING, *_EXCLUDING) if key in entry}
        for key, names in lists.items():
            if "toolFilters" in entry:
                return self._refuse(place, key, 'Said twice, with "toolFilters"', 'Use "toolFilters" alone')
            if not isinstance(names, list):
                return self._refuse(place, key, "Expected a list of names", 'Write ["…"]')
        including = [str(name) for key in _INCLUDING for name in lists.get(key, ())]
        excluding = [f"!{name}" for key in _EXCLUDING for name in lists.get(key, ())]
        if including or excluding:
            entry["toolFilters"] = [*including, *excluding]
        if not including and any(key in lists for key in _INCLUDING):
            entry["toolFilters"] = []  # nothing to offer is nothing, whatever is excluded besides
        return None

    def _sift_headers(self, place: Place, headers: dict[str, Any]) -> None:
        """Of a connection, nothing is lost without them; a message with a wrong length is never read."""
        for name in list(headers):
            if name.lower() in _OF_A_MESSAGE:
                self._refuse(place, name, "This header is made for each message", "Remove it")
            elif name.lower() in _OF_A_CONNECTION:
                del headers[name]
                ignored = "ignored, since connections are the workbench's own"
                self.warnings.append(f"{written((*place, name))}: {ignored}")

    def _look_for_bare_variables(self, place: Place, entry: dict[str, Any]) -> None:
        """Gemini reads `$NAME` as a variable; here only `${NAME}` is one."""
        for group in ("env", "headers"):
            for name, value in as_object(entry.get(group)).items():
                if isinstance(value, str) and _BARE_VARIABLE.fullmatch(value):
                    # A password may begin like that, too; but hardly in capitals alone.
                    shown = value if value.isupper() else "$NAME"
                    meant = f"{shown} is passed as written; for the variable write ${{{shown[1:]}}}"
                    self.warnings.append(f"{written((*place, group, name))}: {meant}")

    def _refuse(self, place: Place, key: str, wrong: str, fix: str) -> None:
        self.problems.append(Problem((*place, key), wrong, fix))
