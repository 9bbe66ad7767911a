"""The byte pump where there is no C compiler: a program's input and output, moved as they are by two threads.

Run by path: `pump.py PROGRAM [ARGUMENT...]`.
"""

import os
import subprocess
import sys
import threading


def move(source: int, sink: int) -> None:
    while data := os.read(source, 1 << 20):
        view = memoryview(data)
        while view:
            view = view[os.write(sink, view) :]
    os.close(sink)


def main() -> None:
    child = subprocess.Popen(
        sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    threading.Thread(target=move, args=(0, child.stdin.fileno()), daemon=True).start()
    move(child.stdout.fileno(), 1)


main()
