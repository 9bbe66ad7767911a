"""Memory for long lines: asked of the system once, and kept for the next one."""

from __future__ import annotations

import contextlib
import sys

_KEPT = 32 * 1024 * 1024
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3

_asked = False


def keep_freed() -> None:
    """Have the C library keep what is freed, up to 32 MiB, instead of giving it back after every long line.

    By default each buffer of 128 KiB or more that is freed goes back to the system and comes again page by
    page; that took a third of the time of a call with a megabyte of arguments, and a tenth with 100 KB
    (`bench`). The C library's own rules hold where it is not glibc.
    """
    global _asked
    if _asked or sys.platform != "linux":
        return
    _asked = True
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _KEPT)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)
        mallopt(_M_TOP_PAD, _KEPT // 8)
