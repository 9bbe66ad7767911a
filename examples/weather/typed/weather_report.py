"""The same report in the typed form, as a plain function, which calls without await."""

from mcp_workbench import tool
from mcp_workbench.sync import ToolCallError, ToolResult, call_tool

TEMPLATE = "Weather report for {city}: {conditions}, {temperature}°C"


@tool
def weather_report(city: str) -> str:
    """A sentence about the weather in a city.

    Args:
        city: Name of the city
    """
    weather = ask("weather_api", {"city": city}, "weather_report_fetch")
    data = {"city": city, **weather.data}
    return ask("text_formatter", {"template": TEMPLATE, "data": data}, "weather_report_format").text


def ask(tool: str, arguments: dict, caller: str) -> ToolResult:
    """The result of a tool; whatever goes wrong ends the report with the reason."""
    try:
        result = call_tool(tool, arguments, caller=caller)
    except ToolCallError as error:
        raise RuntimeError(f"Failed to generate weather report: {error}") from error
    if result.is_error:
        raise RuntimeError(f"Failed to generate weather report: {result.text}")
    return result
