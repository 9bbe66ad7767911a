"""The tools, and the prompt, of the conformance suite that ask the client before they answer it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field

F = TypeVar("F", bound=Callable[..., Any])


def tool(server: MCPServer) -> Callable[[F], F]:
    """The suite wants descriptions; the names say enough."""
    return lambda function: server.tool(description=_sentence(function))(function)


def prompt(server: MCPServer) -> Callable[[F], F]:
    return lambda function: server.prompt(description=_sentence(function))(function)


def _sentence(function: Callable[..., Any]) -> str:
    return function.__name__.replace("_", " ")


def form(message: str, field: str, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt: str) -> CreateMessageRequest:
    content = TextContent(type="text", text=prompt)
    said = SamplingMessage(role="user", content=content)
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=100))


def needed(state: str | None = None, **requests: Any) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def filled_in(answer: Any, field: str) -> Any:
    return (getattr(answer, "content", None) or {}).get(field, "?")


def options(*names: str) -> Any:
    return [{"const": name, "title": name.title()} for name in names]


class Response(BaseModel):
    response: str = Field(description="The answer")


class Defaults(BaseModel):
    name: str = Field(default="John Doe")
    age: int = Field(default=30)
    score: float = Field(default=95.5)
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True)


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})
    titledSingle: str = Field(json_schema_extra={"oneOf": options("low", "medium", "high")})
    untitledMulti: list[str] = Field(
        json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}}
    )
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": options("feature", "bug", "docs")}})
    legacyEnum: str = Field(
        json_schema_extra={"enum": ["small", "medium", "large"], "enumNames": ["Small", "Medium", "Large"]}
    )


async def elicited(ctx: Context, message: str, schema: type[BaseModel]) -> str:
    result = await ctx.elicit(message=message, schema=schema)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"action={result.action}, content={content}"


def add_questions(server: MCPServer) -> None:
    _add_requests(server)
    _add_rounds(server)
    _add_states(server)


def _add_requests(server: MCPServer) -> None:
    """Those that ask while they run, up to 2025-11-25."""

    @tool(server)
    async def test_sampling(prompt: str, ctx: Context) -> str:
        content = TextContent(type="text", text=prompt)
        result = await ctx.session.create_message(
            messages=[SamplingMessage(role="user", content=content)],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
        return f"LLM response: {getattr(result.content, 'text', '?')}"

    @tool(server)
    async def test_elicitation(message: str, ctx: Context) -> str:
        return "User response: " + await elicited(ctx, message, Response)

    @tool(server)
    async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
        return "Elicitation completed: " + await elicited(ctx, "Please fill this in", Defaults)

    @tool(server)
    async def test_elicitation_sep1330_enums(ctx: Context) -> str:
        return "Elicitation completed: " + await elicited(ctx, "Please choose", Choices)


def _add_rounds(server: MCPServer) -> None:
    """Those of 2026-07-28: they answer with what they need, and are called again with it."""

    @tool(server)
    async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
        answers: Any = ctx.input_responses or {}
        if "user_name" in answers:
            return f"Hello, {filled_in(answers['user_name'], 'name')}!"
        return needed(user_name=form("What is your name?", "name"))

    @tool(server)
    async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
        answers: Any = ctx.input_responses or {}
        if "capital_question" in answers:
            return f"Model said: {getattr(answers['capital_question'].content, 'text', '?')}"
        return needed(capital_question=sample("What is the capital of France?"))

    @tool(server)
    async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
        answers: Any = ctx.input_responses or {}
        if "client_roots" in answers:
            return f"Client exposed {len(answers['client_roots'].roots)} root(s)."
        return needed(client_roots=ListRootsRequest())

    @tool(server)
    async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
        questions = {
            "user_name": form("What is your name?", "name"),
            "greeting": sample("Generate a greeting"),
            "client_roots": ListRootsRequest(),
        }
        if questions.keys() <= (ctx.input_responses or {}).keys():
            return "All inputs received."
        return needed("multiple-inputs", **questions)

    @tool(server)
    async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
        declared = ctx.client_capabilities
        questions: dict[str, Any] = {}
        if declared is None or declared.sampling is not None:
            questions["sample"] = sample("Say hello")
        if declared is None or declared.elicitation is not None:
            questions["ask"] = form("What is your name?", "name")
        return needed("capability-gated", **questions)

    @prompt(server)
    async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
        answers: Any = ctx.input_responses or {}
        if "user_context" in answers:
            words = f"Use the following context: {filled_in(answers['user_context'], 'context')}"
            return [UserMessage(role="user", content=TextContent(type="text", text=words))]
        return needed(user_context=form("What context should the prompt use?", "context"))


def _add_states(server: MCPServer) -> None:
    """Those that give the client a state to bring back."""

    @tool(server)
    async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
        if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "nonce":
            return "state-ok: confirmation received"
        return needed("nonce", confirm=form("Please confirm", "ok", "boolean"))

    @tool(server)
    async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return needed("round-1", confirm=form("Please confirm", "ok", "boolean"))
        return f"state-ok: {ctx.request_state}"

    @tool(server)
    async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
        state = json.loads(ctx.request_state) if ctx.request_state else {"round": 0}
        answers: Any = ctx.input_responses or {}
        if state["round"] == 1 and "step1" in answers:
            state = {"round": 2, "name": filled_in(answers["step1"], "name")}
            return needed(json.dumps(state), step2=form("Step 2: What is your favorite color?", "color"))
        if state["round"] == 2 and "step2" in answers:
            return f"{state['name']} likes {filled_in(answers['step2'], 'color')}."
        return needed(json.dumps({"round": 1}), step1=form("Step 1: What is your name?", "name"))
