"""Names in their joined forms, there and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis.strategies import text

from mcp_workbench.names import ResourceRef


def test_a_resource_has_an_address() -> None:
    ref = ResourceRef("dev", "my docs", "file:///a b/c%20d?x=1#y")
    assert ref.address == "workbench://dev/my%20docs/file%3A%2F%2F%2Fa%20b%2Fc%2520d%3Fx%3D1%23y"
    assert ResourceRef.read(ref.address) == ref


def test_the_expressions_of_a_template_stay_readable() -> None:
    ref = ResourceRef("dev", "db", "row://{table}/{id}")
    assert ref.address == "workbench://dev/db/row%3A%2F%2F{table}%2F{id}"
    assert ResourceRef.read(ref.address) == ref


@given(text(min_size=1).filter(str.isprintable), text(min_size=1).filter(str.isprintable))
def test_every_address_leads_back(server: str, uri: str) -> None:
    ref = ResourceRef("dev", server, uri)
    assert ResourceRef.read(ref.address) == ref


def test_other_uris_are_no_addresses() -> None:
    assert ResourceRef.read("file:///etc/hosts") is None
    assert ResourceRef.read("workbench://dev/server") is None
