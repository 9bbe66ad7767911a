"""A plain tool that gives back its text, without `async`."""

schema = {
    "name": "plain_sync",
    "description": "Gives back its text",
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to give back"}},
    "required": ["text"],
}


def default(request):
    return {"content": [{"type": "text", "text": request.params.arguments["text"]}]}
