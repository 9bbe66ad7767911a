"""Why a file of the folder offers no tools. Each class writes the reason and the way to mend it.

Problem
├── Unsafe            others decide what the file says
│   ├── LeadsOut
│   ├── OthersMayWrite
│   └── ForeignOwner
├── FolderMissing
├── Unreadable
├── SyntaxProblem
├── ImportFailed
├── ImportHangs
├── NoTool
├── BadSchema
├── BadDefinition
├── BadName
├── BadSignature
├── NeedsPydantic
└── RepeatedName
"""

from __future__ import annotations

import shlex
import sys


class Problem(Exception):
    """Facts about a file; `reason` and `fix` are its sentence."""

    def __init__(self, reason: str, fix: str) -> None:
        self.reason = reason
        self.fix = fix
        super().__init__(f"{reason}. {fix}")


class Unsafe(Problem):
    """Refused before a line of it is read."""


class LeadsOut(Unsafe):
    def __init__(self, path: str, target: str) -> None:
        command = f"rm {shlex.quote(path)} && cp {shlex.quote(target)} {shlex.quote(path)}"
        super().__init__(f"it is a symlink that leads out of the folder, to {target}", f"Run: {command}")


class OthersMayWrite(Unsafe):
    def __init__(self, path: str, mode: int) -> None:
        super().__init__(
            f"others may write to it (mode {mode & 0o7777:04o})", f"Run: chmod go-w {shlex.quote(path)}"
        )


class ForeignOwner(Unsafe):
    def __init__(self, path: str, owner: int, us: int) -> None:
        super().__init__(
            f"it belongs to another user (id {owner})", f"Run as root: chown {us} {shlex.quote(path)}"
        )


class FolderMissing(Problem):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"the tool folder cannot be read: {reason}", f"Run: mkdir -p {shlex.quote(path)}")


class Unreadable(Problem):
    def __init__(self, reason: str) -> None:
        super().__init__(f"it cannot be read: {reason}", "Make it a readable Python file")


class SyntaxProblem(Problem):
    def __init__(self, line: int | None, message: str) -> None:
        place = "" if line is None else f" in line {line}"
        super().__init__(f"syntax error{place}: {message}", "Correct it and save the file")


class ImportFailed(Problem):
    def __init__(self, error: BaseException, line: int | None, module: str | None) -> None:
        place = "" if line is None else f" in line {line}"
        if module is None:
            fix = "Correct it and save the file"
        else:
            fix = f"If it is a package, run: {pip_install(module)} and save the file again"
        super().__init__(
            f"importing it failed{place}: {type(error).__name__}: {text_of(error)}".rstrip(": "), fix
        )


class ImportHangs(Problem):
    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"importing it takes longer than {seconds:g} seconds",
            "Move slow work from the file's top into a tool",
        )


class NoTool(Problem):
    def __init__(self) -> None:
        super().__init__(
            "it has no tool",
            "Give it a `schema` and a function `default(request)`, or a function with @tool; "
            "the name of a helper file begins with '_'",
        )


class BadSchema(Problem):
    """A plain form that is not what section "The plain form" of the guide says."""


class BadDefinition(Problem):
    def __init__(self, name: str, error: BaseException) -> None:
        super().__init__(
            f"what is said of the tool {name!r} is no JSON: {text_of(error)}",
            "Use dicts, lists, strings and finite numbers in defaults, annotations and schemas",
        )


class BadName(Problem):
    def __init__(self, name: str) -> None:
        if len(name) > 128:
            reason = f"the tool name {name[:20] + '…'!r} has {len(name)} characters, and 128 are allowed"
        else:
            reason = f"{name!r} is no tool name"
        super().__init__(reason, "Use 1 to 128 letters, digits, '_', '-' and '.'")


class BadSignature(Problem):
    """A function that cannot be called with named arguments."""


class NeedsPydantic(Problem):
    def __init__(self) -> None:
        super().__init__(
            f"its typed tools need pydantic 2, which {sys.executable} does not have",
            f"Run: {pip_install('pydantic>=2')} and save the file again",
        )


class RepeatedName(Problem):
    def __init__(self, name: str, first: str) -> None:
        super().__init__(f"the tool name {name!r} is taken by {first}", "Give one of them another name")


def pip_install(requirement: str) -> str:
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(requirement)}"


def text_of(error: BaseException) -> str:
    """What an exception says of itself, whose own code may fail over it."""
    try:
        return str(error)
    except BaseException as failed:
        return f"{type(error).__name__}, whose __str__ failed with {type(failed).__name__}"
