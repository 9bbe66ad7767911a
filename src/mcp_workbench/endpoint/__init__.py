"""What a client can ask, and who answers. How questions arrive and answers leave is the transport's."""

from .base import Endpoint
from .meta import MetaEndpoint
from .question import Client, Question
from .subscription import Subscription

__all__ = ["Client", "Endpoint", "MetaEndpoint", "Question", "Subscription"]
