"""What time it is, what time that is elsewhere, and how long until then. A tool in the plain form."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_ZONE = "IANA name of a time zone, such as Europe/Paris or UTC"
_TIME = "ISO 8601, such as 2026-03-29T14:30; without an offset it is local to 'zone'"

schema = {
    "name": "time_tool",
    "description": (
        "Tells the time in a zone (now), converts a time from one zone to another (convert), "
        "or tells how long it is from one time to another (difference)."
    ),
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": ["now", "convert", "difference"],
            "description": "now; convert, with time and to_zone; difference, with time and until",
        },
        "zone": {"type": "string", "description": f"{_ZONE}; default UTC"},
        "time": {"type": "string", "description": _TIME},
        "to_zone": {"type": "string", "description": f"convert: {_ZONE}"},
        "until": {"type": "string", "description": f"difference: the later time, {_TIME}"},
    },
    "required": ["action"],
    "additionalProperties": False,
}


def default(request: Any) -> dict[str, Any]:
    arguments = request.params.arguments
    zone = _zone(arguments.get("zone", "UTC"))
    action = arguments["action"]
    if action == "now":
        return _told(datetime.now(zone))
    time = _time(arguments, "time", zone)
    if action == "convert":
        return _told(time.astimezone(_zone(_needed(arguments, "to_zone"))))
    apart = _time(arguments, "until", zone) - time
    return {"seconds": apart.total_seconds(), "text": str(apart)}


def _told(time: datetime) -> dict[str, Any]:
    return {
        "time": time.isoformat(timespec="seconds"),
        "zone": str(time.tzinfo),
        "weekday": f"{time:%A}",
    }


def _time(arguments: dict[str, Any], name: str, zone: ZoneInfo) -> datetime:
    text = _needed(arguments, name)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{name}: {text!r} is no time in ISO 8601, such as 2026-03-29T14:30") from None
    if time.tzinfo is not None:
        return time
    time = time.replace(tzinfo=zone)
    if time.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != time.replace(tzinfo=None):
        raise ValueError(f"{name}: {text} does not exist in {zone}: the clocks are put forward over it")
    # Across zones two times are compared in UTC; within one, Python would compare the clock faces.
    return time.astimezone(UTC)


def _needed(arguments: dict[str, Any], name: str) -> str:
    if name not in arguments:
        raise ValueError(f"{arguments['action']} needs {name!r}")
    return arguments[name]


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is no time zone that this machine knows; use a name such as Europe/Paris"
        ) from None
