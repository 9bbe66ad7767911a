"""The same greeting in the typed form: the signature is the schema."""

from typing import Literal

from mcp_workbench import tool

GREETINGS = {"en": "Hello, {}!", "zh": "你好，{}！", "fr": "Bonjour, {}!"}


@tool
async def greeting(name: str, language: Literal["en", "zh", "fr"] = "en") -> str:
    """Returns a greeting.

    Args:
        name: Who to greet
        language: Greeting language
    """
    return GREETINGS[language].format(name)
