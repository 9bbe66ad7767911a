"""`${VAR}` in the strings and keys of a configuration. What a missing variable means is for others to say."""

import re
from collections.abc import Mapping
from typing import Any, cast

from .place import Place, is_comment, quoted
from .problems import Problem

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_NO_VARIABLE = "is no variable: ${NAME} and ${NAME:-default} are"
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-.*)?", re.DOTALL)

# Known to an editor only; read as environment variables they would be missing, which explains nothing.
_EDITOR = (
    r"(?:input|command|config):[\s\S]*"
    r"|workspaceFolder.*|workspaceRoot.*|userHome|pathSeparator|/|cwd|execPath|extensionInstallFolder"
    r"|file|file(?:Basename|Dirname|Extname|Workspace)\w*|relativeFile\w*|lineNumber|selectedText"
)
_INSTEAD = {"userHome": "${HOME}", "pathSeparator": "/", "/": "/"}


class Expansion:
    """Data with its variables in place, without its comments, and what was learnt on the way.

    A string whose variable is missing stays as it was written; `missing` tells where.
    """

    def __init__(self, data: object, environ: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self.missing: dict[Place, list[str]] = {}
        self.used: dict[str, str] = {}
        self._environ = environ
        self.data: Any = self._value((), data)

    def _value(self, place: Place, value: object) -> Any:
        if isinstance(value, str):
            return self._text(place, value)
        if isinstance(value, list):
            items = cast("list[object]", value)
            return [self._value((*place, index), item) for index, item in enumerate(items)]
        if isinstance(value, dict):
            return self._object(place, cast("dict[str, object]", value))
        return value

    def _object(self, place: Place, value: dict[str, object]) -> dict[str, Any]:
        expanded: dict[str, Any] = {}
        for written, child in value.items():
            if is_comment(place, written):
                continue
            key = self._text((*place, written), written) if "${" in written else written
            if key in expanded:
                wrong = f"Two keys become {quoted(key)} once variables are in place"
                self.problems.append(Problem((*place, written), wrong, "Give them different names"))
            expanded[key] = self._value((*place, key), child)
        return expanded

    def _text(self, place: Place, text: str) -> str:
        if "${" not in text:
            return text
        absent: list[str] = []

        def substitute(found: re.Match[str]) -> str:
            inner: str | None = found[1]
            if inner is None:
                return "${"
            variable = _VARIABLE.fullmatch(inner)
            if variable and variable[1] in self._environ and "${" not in (variable[2] or ""):
                self.used[variable[1]] = self._environ[variable[1]]
                return self._environ[variable[1]]
            if re.fullmatch(_EDITOR, inner):
                self._refuse(place, found[0], "is known to an editor only", _INSTEAD.get(inner))
            elif variable is None or "${" in (variable[2] or ""):
                self._refuse(place, found[0], _NO_VARIABLE, None)
            elif variable[2] is not None:
                return variable[2][2:]
            else:
                absent.append(variable[1])
            return found[0]

        # Behind the last brace nothing is closed, and to look for one from each "${" there takes for ever.
        end = text.rfind("}") + 1
        expanded = _REFERENCE.sub(substitute, text[:end]) + self._unclosed(place, text[end:])
        if not absent:
            return expanded
        self.missing.setdefault(place, []).extend(absent)
        return text

    def _unclosed(self, place: Place, text: str) -> str:
        """What no "}" follows: there every "${" that is not escaped is a mistake."""
        if any("${" in part for part in text.split("$${")):
            self._refuse(place, "${", _NO_VARIABLE, None)
        return text.replace("$${", "${")

    def _refuse(self, place: Place, reference: str, reason: str, instead: str | None) -> None:
        fix = "Write the value, ${NAME} of the environment, or $${ for a plain ${"
        if instead:
            fix = f"Write {instead} instead"
        self.problems.append(Problem(place, f"{quoted(reference)} {reason}", fix))
