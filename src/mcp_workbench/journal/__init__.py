"""The call log: one line per call. Writing is here and cheap to import; readers import what they need."""

from .ids import new_id
from .journal import Journal

__all__ = ["Journal", "new_id"]
