"""A plain tool that gives back its text, with `async`."""

schema = {
    "name": "plain_async",
    "description": "Gives back its text",
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to give back"}},
    "required": ["text"],
}


async def default(request):
    return {"content": [{"type": "text", "text": request.params.arguments["text"]}]}
