"""The weather of a few cities, as structured content. Plain form, plain function."""

schema = {
    "name": "weather_api",
    "description": "Conditions and temperature of a city",
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of the city"}},
    "required": ["city"],
}

# A real one would ask a service; this one answers the same every time.
WEATHER = {
    "Beijing": {"conditions": "Sunny", "temperature": 25},
    "London": {"conditions": "Rainy", "temperature": 12},
    "Paris": {"conditions": "Cloudy", "temperature": 18},
}


def default(request):
    city = request.params.arguments["city"]
    if city not in WEATHER:
        raise LookupError(f"no weather for {city!r}; known cities: {', '.join(WEATHER)}")
    return {"city": city, **WEATHER[city]}
