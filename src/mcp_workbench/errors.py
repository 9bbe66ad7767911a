"""Everything that can go wrong, and every sentence the contract promises about it, written once.

WorkbenchError
├── ConfigError            the configuration cannot be used; the start stops with status 1
│   ├── ConfigNotFound         a file that was asked for is not there
│   ├── ConfigUnreadable       a file that is there cannot be read
│   └── ConfigInvalid          what it says cannot be used: all its problems
├── ToolError              an answer that a model reads: a result with `isError: true`
│   ├── InvalidParameters      open_toolbox: arguments that do not fit
│   ├── InvalidInvocation      use_tool: arguments that do not fit
│   ├── UnknownMetaTool        a tool that we do not have
│   ├── OpeningFailed          open_toolbox: every server failed
│   ├── ToolboxUnknown         open_toolbox: not configured
│   ├── CallRefused            use_tool: there is nothing to call
│   │   ├── ToolboxNotOpen
│   │   ├── ToolboxNotFound
│   │   ├── ServerNotFound
│   │   ├── ToolNotFound
│   │   ├── NameNotFound
│   │   ├── ToolNotOffered
│   │   └── ChainTooDeep
│   └── CallFailed             use_tool: the call was tried and got no result
├── ConnectFailed          a server could not be connected; data of `_errors`, the reason of CallFailed
├── PinsUnusable           the file of pins cannot be read or written; data of `_errors`, status 1 of `pin`
├── Unanswered             a call got no answer: crash, time-out, no place; the reason of CallFailed
├── NoRecording            there is nothing to replay; status 1 of `replay`
└── RpcError               a JSON-RPC error, as it goes over the wire
    └── NotRecorded            replay: a call that is not on record

An error carries facts; its class writes the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .names import ToolRef


class WorkbenchError(Exception):
    """Anything that we report by name."""


class ConfigError(WorkbenchError):
    """A configuration that cannot be used; `path` is its file."""

    def __init__(self, path: str, sentence: str) -> None:
        self.path = path
        super().__init__(sentence)


class ConfigNotFound(ConfigError):
    """`asked_by` is what named the file: an option, a variable."""

    def __init__(self, path: str, asked_by: str) -> None:
        super().__init__(path, f"Configuration file {path} not found (asked for by {asked_by})")


class ConfigUnreadable(ConfigError):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"Configuration file {path} cannot be read: {reason}")


class ConfigProblem(NamedTuple):
    """One mistake in a configuration: where it stands, what is wrong, and what to do."""

    place: str
    wrong: str
    fix: str

    def __str__(self) -> str:
        return f"{self.place}: {self.wrong}. {self.fix}{'' if self.fix.endswith('?') else '.'}"


class ConfigInvalid(ConfigError):
    """All problems at once, in the order of the file."""

    def __init__(self, path: str, problems: Sequence[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = [f"Configuration file {path} cannot be used: {count}", *(f"  - {each}" for each in problems)]
        super().__init__(path, "\n".join(lines))


class ToolError(WorkbenchError):
    """Reaches the model as the text of an error result."""


class InvalidParameters(ToolError):
    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(f"Invalid parameters: {'; '.join(problems)}")


class InvalidInvocation(ToolError):
    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(f"Invalid tool invocation parameters: {'; '.join(problems)}")


def unrecognized_keys(keys: Sequence[str], hints: dict[str, str], place: str = "") -> str:
    """The clause about keys that do not belong, with what became of the retired ones."""
    named = ", ".join(f"'{key}'" + (f" ({hints[key]})" if key in hints else "") for key in keys)
    return f"{place}Unrecognized key{'s' if len(keys) > 1 else ''}: {named}"


def available(toolboxes: Iterable[str]) -> str:
    names = ", ".join(toolboxes)
    return f"Available toolboxes: {names}" if names else "No toolboxes are configured"


def shortened(limit: int) -> str:
    """The note of a listing that was too long."""
    return (
        f"Signatures instead of schemas, because the listing would exceed {limit} characters (listingLimit). "
        'For the schemas, call open_toolbox with "detail": "json".'
    )


class UnknownMetaTool(ToolError):
    """`identifier` is the JSON of the call's `tool`, exact where an open toolbox has that tool."""

    def __init__(self, name: str, identifier: str) -> None:
        super().__init__(
            f"Unknown tool '{name}'. Tools of a toolbox are called through use_tool: "
            f'{{"tool": {identifier}, "arguments": {{…}}}}'
        )


class ToolboxUnknown(ToolError):
    def __init__(self, toolbox: str, toolboxes: Iterable[str]) -> None:
        super().__init__(f"Error: Toolbox '{toolbox}' not found. {available(toolboxes)}")


class OpeningFailed(ToolError):
    def __init__(self, toolbox: str, failures: Sequence[str]) -> None:
        super().__init__(f"Error opening toolbox '{toolbox}': {'; '.join(failures)}")


class CallRefused(ToolError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"Error executing tool: {reason}")


class ToolboxNotOpen(CallRefused):
    def __init__(self, toolbox: str) -> None:
        super().__init__(f"Toolbox '{toolbox}' is not open. Call open_toolbox first.")


class ToolboxNotFound(CallRefused):
    def __init__(self, toolbox: str, toolboxes: Iterable[str]) -> None:
        super().__init__(f"Toolbox '{toolbox}' not found. {available(toolboxes)}")


class ServerNotFound(CallRefused):
    def __init__(self, server: str, toolbox: str) -> None:
        super().__init__(f"Server '{server}' not found in toolbox '{toolbox}'")


class ToolNotFound(CallRefused):
    def __init__(self, ref: ToolRef) -> None:
        super().__init__(f"Tool '{ref.name}' not found in server '{ref.server}' (toolbox '{ref.toolbox}')")


class NameNotFound(CallRefused):
    """A tool called another by its name alone, and nothing near it has that name."""

    def __init__(self, name: str, caller: ToolRef) -> None:
        super().__init__(
            f"Tool '{name}' not found, neither in server '{caller.server}' nor in toolbox '{caller.toolbox}'"
        )


class ToolNotOffered(CallRefused):
    def __init__(self, ref: ToolRef, reason: str) -> None:
        super().__init__(
            f"Tool '{ref.name}' in server '{ref.server}' (toolbox '{ref.toolbox}') is not offered: {reason}"
        )


NOT_READ_ONLY = "only tools that declare readOnlyHint: true are (readOnly is set), and it does not"


class NotAccepted:
    """What is said of a server's tools that are not as they were accepted: no error while others can be used.

    `config` is the file that the command needs, since whoever reads this is rarely where we were started.
    """

    def __init__(self, server: str, toolbox: str, pinned: bool, config: str | None) -> None:
        self._place = f"server '{server}' (toolbox '{toolbox}')"
        self._pinned = pinned
        self._command = f"mcp-workbench pin --accept {toolbox}"
        if config is not None:
            from shlex import quote

            self._command += f" --config {quote(config)}"

    @property
    def reason_changed(self) -> str:
        return (
            "its definition has changed since it was accepted (pinned is set). "
            f"To see the difference and accept it, run: {self._command}"
        )

    @property
    def reason_new(self) -> str:
        return f"it was never accepted (pinned is set). To see it and accept it, run: {self._command}"

    def changed(self, tool: str, difference: str) -> str:
        """A line of `_errors`."""
        outcome = ", and is not offered" if self._pinned else ""
        return (
            f"Tool '{tool}' in {self._place} has changed since it was accepted{outcome}: {difference}. "
            f"To accept it, run: {self._command}"
        )

    def new(self, tools: str) -> str:
        """A line of `_errors`."""
        return (
            f"Tools in {self._place} were never accepted, and are not offered: {tools}. "
            f"To see and accept them, run: {self._command}"
        )


class ChainTooDeep(CallRefused):
    """Tools that call each other without an end; the names show the loop."""

    def __init__(self, chain: Sequence[ToolRef]) -> None:
        names = " → ".join(ref.name for ref in chain)
        super().__init__(
            f"the chain of calls is deeper than {len(chain) - 1}, which looks like a loop: {names}"
        )


class CallFailed(ToolError):
    """The downstream server gave an error (`rpc`), or no answer at all."""

    def __init__(self, ref: ToolRef, reason: str, rpc: RpcError | None = None) -> None:
        self.ref = ref
        self.reason = reason
        self.rpc = rpc
        super().__init__(
            f"Error executing tool '{ref.name}' in server '{ref.server}' (toolbox '{ref.toolbox}'): {reason}"
        )


class ConnectFailed(WorkbenchError):
    """Says why, for whoever needed the connection; `sentence` is the line in `_errors`."""

    def __init__(self, server: str, toolbox: str, reason: str) -> None:
        self.reason = reason
        self.sentence = f"Failed to connect to server '{server}' in toolbox '{toolbox}': {reason}"
        super().__init__(self.sentence)


class PinsUnusable(WorkbenchError):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"Pins file {path} cannot be used: {reason}")

    def note(self, server: str, toolbox: str) -> str:
        """A line of `_errors`."""
        return f"Tools in server '{server}' (toolbox '{toolbox}') were not compared with their pins: {self}"


class Unanswered(WorkbenchError):
    """Nothing came back from the server; says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class RpcError(WorkbenchError):
    """A JSON-RPC error; `data` is JSON already, and `raw` the whole object where a server wrote it."""

    def __init__(self, code: int, message: str, data: bytes | None = None, raw: bytes | None = None) -> None:
        self.code = code
        self.message = message
        self.reason = message
        self.data = data
        self.raw = raw
        super().__init__(f"{message} ({code})")


class NoRecording(WorkbenchError):
    """`recorded` are the toolboxes that there are; `reason` says why one of them cannot be used."""

    def __init__(self, log: str, toolbox: str, recorded: Sequence[str], reason: str | None = None) -> None:
        if reason is not None:
            super().__init__(f"The recording of toolbox '{toolbox}' beside {log} cannot be used: {reason}")
        elif recorded:
            names = ", ".join(recorded)
            super().__init__(f"Toolbox '{toolbox}' is not recorded beside {log}. Recorded toolboxes: {names}")
        else:
            super().__init__(
                f"Nothing is recorded beside {log}. To record, set "
                '"log": {"record": true} in the configuration and use its tools'
            )


class NotRecorded(RpcError):
    """`given` and `nearest` are arguments as JSON, `difference` what stands between them in words.

    `recorded` is how many different calls of the tool there are.
    """

    def __init__(
        self, tool: str, given: str, recorded: int, nearest: str | None = None, difference: str = ""
    ) -> None:
        if nearest is None:
            said = f"No call of '{tool}' is on record; it was called with {given}"
        else:
            said = (
                f"No recorded call of '{tool}' has the arguments {given}. "
                f"The nearest of {recorded} has {nearest}. The difference: {difference}"
            )
        super().__init__(-32602, said)


def said_of_a_mistake(mistake: Exception) -> str:
    """What is said of one of our own, to whoever asked and in the log."""
    return f"Internal error: {mistake}"
