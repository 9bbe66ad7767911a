"""A greeting in the plain form: a schema and a function."""

schema = {
    "name": "greeting",
    "description": "Returns a greeting",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Who to greet"},
        "language": {
            "type": "string",
            "enum": ["en", "zh", "fr"],
            "default": "en",
            "description": "Greeting language",
        },
    },
    "required": ["name"],
}

GREETINGS = {"en": "Hello, {}!", "zh": "你好，{}！", "fr": "Bonjour, {}!"}


async def default(request):
    arguments = request.params.arguments
    text = GREETINGS[arguments.get("language", "en")].format(arguments["name"])
    return {"content": [{"type": "text", "text": text}]}
