"""Fills a template with data. Typed form."""

from typing import Any

from mcp_workbench import tool


@tool
def text_formatter(template: str, data: dict[str, Any]) -> str:
    """Fills the {fields} of a template with data.

    Args:
        template: Text with {fields}
        data: A value for each field
    """
    try:
        return template.format_map(data)
    except KeyError as missing:
        raise ValueError(f"the data has no field {missing}") from None
