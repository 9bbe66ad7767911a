"""Durations and sizes as people write them. The shapes are also in the JSON Schema."""

import re

DURATION = (
    r"^(?=.*[1-9])([0-9]{1,12}(\.[0-9]{1,9})?(ms|s|m|h|d)){1,5}$|^(?=.*[1-9])[0-9]{1,12}(\.[0-9]{1,9})?$"
)
SIZE = r"^(?=.*[1-9])[0-9]{1,12}(\.[0-9]{1,9})? ?([kKMG]i?)?B?$"

_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "": 1,
    "k": 10**3,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "ki": 2**10,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
}

_YEAR = 365 * 86400.0


def seconds(written: float | str) -> float:
    """`90`, `"90"`, `"500ms"`, `"10m"`, `"1h30m"`. A wait of more than a year is a year: clocks overflow."""
    if isinstance(written, str):
        parts: list[tuple[str, str]] = re.findall(r"([0-9.]+)(ms|[smhd]?)", written)
        written = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return min(float(written), _YEAR)


def size(written: int | str) -> int:
    """Bytes: `16384`, `"16384"`, `"100MB"` (10⁶), `"64 MiB"` (2²⁰)."""
    if isinstance(written, int):
        return written
    number, unit = re.findall(r"^([0-9.]+) ?([kKMG]?i?)", written)[0]
    return max(1, int(float(number) * _BYTES[unit]))
