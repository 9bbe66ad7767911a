import pytest

from mcp_workbench.config.values import seconds, size


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (90, 90),
        (0.5, 0.5),
        ("90", 90),
        ("500ms", 0.5),
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2d", 172800),
    ],
)
def test_a_duration_is_seconds_or_number_and_unit(written: float | str, meant: float) -> None:
    assert seconds(written) == pytest.approx(meant)


def test_a_duration_that_no_clock_holds_is_a_year() -> None:
    assert seconds("999999999999d") == seconds(1e300) == 365 * 86400


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (16384, 16384),
        ("16384", 16384),
        ("100MB", 100_000_000),
        ("64 MiB", 64 * 2**20),
        ("1.5k", 1500),
        ("2GiB", 2**31),
        ("10B", 10),
    ],
)
def test_a_size_is_bytes_or_number_and_unit(written: int | str, meant: int) -> None:
    assert size(written) == meant
