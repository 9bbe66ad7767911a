"""Tickets: whose they are, and who understands them."""

from __future__ import annotations

import pytest

from mcp_workbench.endpoint.tickets import Tickets
from mcp_workbench.names import TaskRef

REF = TaskRef("dev", "a/b é", "786512e2-9e0d-44bd-8f29-789f320fe840")


@pytest.mark.parametrize("holder", [None, "alice", "null", ""])
def test_a_ticket_leads_its_holder_to_the_task(holder: str | None) -> None:
    tickets = Tickets([])
    ticket = tickets.issue(REF, holder)
    assert tickets.read(ticket, holder) == REF
    assert ticket.isascii()
    assert REF.id not in ticket


def test_a_ticket_is_of_no_use_to_anybody_else() -> None:
    tickets = Tickets(["secret"])
    ticket = tickets.issue(REF, "alice")
    assert [tickets.read(ticket, other) for other in (None, "bob", "alice ", "null")] == [None] * 4


def test_a_ticket_that_was_changed_anywhere_is_none() -> None:
    tickets = Tickets([])
    ticket = tickets.issue(REF, None)
    for place in range(len(ticket)):
        changed = ticket[:place] + ("A" if ticket[place] != "A" else "B") + ticket[place + 1 :]
        found = tickets.read(changed, None)
        # The last character has bits that stand for nothing.
        assert found is None or place == len(ticket) - 1


@pytest.mark.parametrize("text", ["", "A", "task-1", "é", "=" * 30, "AAAA" * 30, "\x00"])
def test_any_other_text_is_no_ticket(text: str) -> None:
    assert Tickets([]).read(text, None) is None


def test_those_who_share_secrets_know_each_others_tickets() -> None:
    ticket = Tickets(["one", "two"]).issue(REF, "alice")
    assert Tickets(["two", "one"]).read(ticket, "alice") == REF
    assert Tickets(["onetwo"]).read(ticket, "alice") is None
    assert Tickets([]).read(ticket, "alice") is None


def test_without_secrets_nobody_shares_anything() -> None:
    assert Tickets([]).read(Tickets([]).issue(REF, None), None) is None
