import os
import subprocess
import sys
import time

from mcp_workbench.journal import beginning


def test_ids_differ_and_sort_as_they_were_made():
    ids = [beginning()[0] for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert ids == sorted(ids)
    assert {len(id) for id in ids} == {21}


def test_ids_differ_and_sort_when_the_clock_stands_still_or_is_set_back():
    now = time.time_ns() + 10**9
    times = [now] * 600 + [now - 10**6, now, now + 1, now - 10**12, now + 10**6]
    ids = [beginning(each)[0] for each in times]
    assert len(set(ids)) == len(times)
    assert ids == sorted(ids)


def test_processes_that_start_together_have_ids_of_their_own():
    program = "from mcp_workbench.journal import beginning\nprint(*[beginning()[0] for _ in range(500)])"
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    ids = [id for process in processes for id in process.communicate(timeout=30)[0].split()]
    assert len(set(ids)) == 1500


def test_a_forked_process_does_not_repeat_its_parents_ids():
    receiving, sending = os.pipe()
    if (pid := os.fork()) == 0:
        os.write(sending, beginning()[0][-8:].encode())
        os._exit(0)
    os.close(sending)
    salt = os.read(receiving, 100).decode()
    os.close(receiving)
    os.waitpid(pid, 0)
    assert salt != beginning()[0][-8:]


def test_the_time_of_a_beginning_is_that_of_the_clock_even_where_it_was_set_back():
    moments = (1742005780_123_999_999, 1742005780_124_000_000, 1742005779_999_999_999)
    written = ["2025-03-15T02:29:40.123Z", "2025-03-15T02:29:40.124Z", "2025-03-15T02:29:39.999Z"]
    assert [beginning(moment)[1] for moment in moments] == written
