import os
import subprocess
import sys

from mcp_workbench.journal import new_id


def test_ids_differ_and_sort_by_time():
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert ids[0][:11] <= ids[-1][:11]
    assert {len(id) for id in ids} == {21}


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
