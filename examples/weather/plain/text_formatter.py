"""Fills a template with data. Plain form, plain function."""

schema = {
    "name": "text_formatter",
    "description": "Fills the {fields} of a template with data",
    "type": "object",
    "properties": {
        "template": {"type": "string", "description": "Text with {fields}"},
        "data": {"type": "object", "description": "A value for each field"},
    },
    "required": ["template", "data"],
}


def default(request):
    arguments = request.params.arguments
    try:
        return arguments["template"].format_map(arguments["data"])
    except KeyError as missing:
        raise ValueError(f"the data has no field {missing}") from None
