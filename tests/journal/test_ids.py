import os
import subprocess
import sys
import time

from mcp_workbench.journal import new_id


def test_ids_differ_and_sort_as_they_were_made():
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert ids == sorted(ids)
    assert {len(id) for id in ids} == {22}


def test_ids_differ_and_sort_when_the_clock_stands_still_or_is_set_back():
    now = time.time_ns() + 10**9
    ids = [new_id(now), new_id(now), new_id(now - 10**6), new_id(now), new_id(now + 1)]
    assert len(set(ids)) == 5
    assert ids == sorted(ids)


def test_processes_that_start_together_have_ids_of_their_own():
    program = "from mcp_workbench.journal import new_id\nprint(*[new_id() for _ in range(500)])"
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    ids = [id for process in processes for id in process.communicate(timeout=30)[0].split()]
    assert len(set(ids)) == 1500


def test_a_forked_process_does_not_repeat_its_parents_ids():
    receiving, sending = os.pipe()
    if (pid := os.fork()) == 0:
        os.write(sending, new_id()[-6:].encode())
        os._exit(0)
    os.close(sending)
    salt = os.read(receiving, 100).decode()
    os.close(receiving)
    os.waitpid(pid, 0)
    assert salt != new_id()[-6:]
