"""A tool that calls two others, each with a caller of its own in the call log. Plain form, async."""

from mcp_workbench import ToolCallError, call_tool

schema = {
    "name": "weather_report",
    "description": "A sentence about the weather in a city",
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of the city"}},
    "required": ["city"],
}

TEMPLATE = "Weather report for {city}: {conditions}, {temperature}°C"


async def default(request):
    city = request.params.arguments["city"]
    weather = await ask("weather_api", {"city": city}, "weather_report_fetch")
    data = {"city": city, **weather.data}
    report = await ask("text_formatter", {"template": TEMPLATE, "data": data}, "weather_report_format")
    return report.text


async def ask(tool, arguments, caller):
    """The result of a tool; whatever goes wrong ends the report with the reason."""
    try:
        result = await call_tool(tool, arguments, caller=caller)
    except ToolCallError as error:
        raise RuntimeError(f"Failed to generate weather report: {error}") from error
    if result.is_error:
        raise RuntimeError(f"Failed to generate weather report: {result.text}")
    return result
