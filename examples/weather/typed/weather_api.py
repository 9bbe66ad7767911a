"""The weather of a few cities; the return annotation announces what it looks like. Typed form."""

from dataclasses import dataclass

from mcp_workbench import tool


@dataclass
class Weather:
    city: str
    conditions: str
    temperature: int


# A real one would ask a service; this one answers the same every time.
WEATHER = [Weather("Beijing", "Sunny", 25), Weather("London", "Rainy", 12), Weather("Paris", "Cloudy", 18)]


@tool
def weather_api(city: str) -> Weather:
    """Conditions and temperature of a city.

    Args:
        city: Name of the city
    """
    for weather in WEATHER:
        if weather.city == city:
            return weather
    raise LookupError(f"no weather for {city!r}; known cities: {', '.join(each.city for each in WEATHER)}")
