"""Workbenches that serve over HTTP."""

from __future__ import annotations

from tests.http.conftest import serve

__all__ = ["serve"]
