"""What a docstring says of a function and of its parameters: Google, NumPy and Sphinx style."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

_PARAMETER_TITLES = {"args", "arguments", "parameters", "params", "other parameters", "keyword args"}
_TITLES = _PARAMETER_TITLES | {
    "attributes",
    "example",
    "examples",
    "note",
    "notes",
    "raises",
    "references",
    "return",
    "returns",
    "see also",
    "warning",
    "warnings",
    "warns",
    "yields",
}
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
_SPHINX_ITEM = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)"
)
_SPHINX_FIELD = re.compile(r":\w+[^:]*:")
_SPHINX_TYPE = re.compile(r":type\s+\w+\s*:")


class Docstring(NamedTuple):
    """`description` is the text without its parameter sections."""

    description: str
    parameters: dict[str, str]


def read(text: str | None) -> Docstring:
    lines = inspect.cleandoc(text or "").splitlines()
    kept: list[str] = []
    parameters: dict[str, list[str]] = {}
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        end = _end_of_section(lines, at)
        item = _SPHINX_ITEM.match(line)
        if _is_numpy_title(lines, at) and line.rstrip(":").lower() in _PARAMETER_TITLES:
            _read_items(lines[at + 2 : end], _NUMPY_ITEM, parameters)
            at = end
        elif line.endswith(":") and line[:-1].lower() in _PARAMETER_TITLES:
            _read_items(lines[at + 1 : end], _GOOGLE_ITEM, parameters)
            at = end
        elif item or _SPHINX_TYPE.match(line):
            said = [item[2]] if item else []
            at += 1
            while at < len(lines) and lines[at].strip() and not _SPHINX_FIELD.match(lines[at].strip()):
                said.append(lines[at].strip())
                at += 1
            if item:
                parameters[item[1]] = said
        else:
            kept.append(lines[at])
            at += 1
    described = {name: " ".join(filter(None, said)) for name, said in parameters.items()}
    return Docstring(
        re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(),
        {name: said for name, said in described.items() if said},
    )


def _is_numpy_title(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(re.fullmatch(r"-{3,}", lines[at + 1].strip()))


def _is_title(lines: list[str], at: int) -> bool:
    line = lines[at].strip()
    return _is_numpy_title(lines, at) or (line.endswith(":") and line[:-1].lower() in _TITLES)


def _end_of_section(lines: list[str], at: int) -> int:
    """The line after a section that begins at `at`: the next title, or, in Google style, text that is not
    indented any more."""
    numpy = _is_numpy_title(lines, at)
    indent = _indent(lines[at])
    end = at + (2 if numpy else 1)
    while end < len(lines):
        if _is_title(lines, end) and _indent(lines[end]) <= indent:
            break
        if not numpy and lines[end].strip() and _indent(lines[end]) <= indent:
            break
        end += 1
    return end


def _read_items(lines: list[str], pattern: re.Pattern[str], into: dict[str, list[str]]) -> None:
    """Items stand at the section's own indent; what is indented deeper goes on with the item above."""
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    names: list[str] = []
    for line in lines:
        item = pattern.match(line.strip()) if line.strip() and _indent(line) == indent else None
        if item:
            names = [name.strip() for name in item[1].split(",")]
            for name in names:
                into[name] = [item[2].strip()] if pattern is _GOOGLE_ITEM else []
        else:
            for name in names:
                into[name].append(line.strip())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
