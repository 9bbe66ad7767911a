"""Finding tools by words: an index in memory, a catalogue on disk, and the answer as text."""

from .answer import answer, unseen
from .catalogue import Catalogue, Place, Seen, digest
from .index import Index
from .merge import merge

__all__ = ["Catalogue", "Index", "Place", "Seen", "answer", "digest", "merge", "unseen"]
