"""The call log: one line per call. Writing is here and cheap to import; readers import what they need."""

from .beginnings import beginning
from .journal import Journal

__all__ = ["Journal", "beginning"]
