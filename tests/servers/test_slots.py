"""Places for calls: first come, first served, and a queue that ends."""

from __future__ import annotations

import asyncio

import pytest

from mcp_workbench.errors import Unanswered
from mcp_workbench.servers.slots import Slots


def test_those_who_wait_get_their_place_in_turn() -> None:
    async def main() -> list[int]:
        slots = Slots(2, 10)
        served: list[int] = []

        async def call(number: int) -> None:
            await slots.take()
            served.append(number)
            await asyncio.sleep(0.001)
            slots.give_back()

        await asyncio.wait_for(asyncio.gather(*(call(number) for number in range(10))), 5)
        return served

    assert asyncio.run(main()) == list(range(10))


def test_a_full_queue_is_busy_and_says_what_sets_it() -> None:
    async def main() -> None:
        slots = Slots(1, 1)
        await slots.take()
        waiting = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        with pytest.raises(Unanswered, match=r"busy: 1 .* and 1 wait .*limits\.queue"):
            await slots.take()
        slots.give_back()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(main())


def test_whoever_gives_up_waiting_takes_no_place() -> None:
    async def main() -> None:
        slots = Slots(1, 2)
        await slots.take()
        leaving, staying = asyncio.create_task(slots.take()), asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait({leaving})
        slots.give_back()
        await asyncio.wait_for(staying, 5)
        slots.give_back()
        await asyncio.wait_for(slots.take(), 5)

    asyncio.run(main())


def test_those_who_gave_up_do_not_fill_the_queue() -> None:
    async def main() -> None:
        slots = Slots(1, 1)
        await slots.take()
        leaving = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait({leaving})
        staying = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        slots.give_back()
        await asyncio.wait_for(staying, 5)

    asyncio.run(main())


def test_a_place_given_to_one_who_just_left_goes_to_the_next() -> None:
    async def main() -> None:
        slots = Slots(1, 2)
        await slots.take()
        leaving, staying = asyncio.create_task(slots.take()), asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        slots.give_back()
        leaving.cancel()
        await asyncio.wait_for(staying, 5)

    asyncio.run(main())


def test_a_turn_is_called_with_its_place_unless_it_was_withdrawn() -> None:
    slots = Slots(1, 2)
    served: list[str] = []
    assert slots.take_at_once()

    def first() -> None:
        served.append("first")

    def second() -> None:
        served.append("second")

    assert slots.wait(first)
    assert slots.wait(second)
    assert not slots.wait(second)
    assert slots.withdraw(first)
    assert not slots.withdraw(first)
    slots.give_back()
    assert served == ["second"]
    assert not slots.take_at_once()
    slots.give_back()
    assert slots.take_at_once()
