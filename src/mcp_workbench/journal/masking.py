"""What may not be in the log: which keys hold secrets, and where known secrets are in a text."""

import re
from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from functools import lru_cache

from .quoting import escape

MASKED = "[masked]"

# Compiled when the first suspicious key comes: that is rare, and starting is not.
# In `dbPass` and `userAuth` it is the capital that tells: `compass` ends likewise.
_PASSWORD = (
    r"pass[_\-. ]?(?:word|wd|phrase|code|key)|pwd"
    r"|(?:^|[_\-. ])pass$|(?-i:(?<=[a-z0-9])(?<![Bb]y)Pass)$"
)
_SECRET = (
    r"secret(?!ar)|token(?!i[sz])|authori[sz]ation|authentication$|cookie|credential|bearer"
    r"|(?:^|basic|[_\-. ])o?auth$|(?-i:(?<=[a-z0-9])Auth)$"
    r"|(?:api|access|private|secret|signing|encryption|master|account|ssh)[_\-. ]?key"
    r"|(?:^|[_\-. ])jwt|connection[_\-. ]?string"
)
# A secret of several lines (a private key) is often quoted line by line; shorter lines are not telling.
_LINE = 16
# What a pattern of the user's own may find is of unknown length; this much is assumed.
_MARGIN = 256


class Sensitivity(IntEnum):
    """What is masked below a key: nothing, strings (`max_tokens: 500` is no secret), or numbers too."""

    NONE = 0
    STRINGS = 1
    ALL = 2


@lru_cache(1024)
def _sensitivity(key: str) -> Sensitivity:
    if re.search(_PASSWORD, key, re.IGNORECASE):
        return Sensitivity.ALL
    return Sensitivity.STRINGS if re.search(_SECRET, key, re.IGNORECASE) else Sensitivity.NONE


class Mask:
    """Finds secrets by the keys they are under, by their known values, and by patterns of the user's own."""

    def __init__(self, secrets: Collection[str], patterns: Sequence[str], *, by_key: bool = True) -> None:
        """Without `by_key` a key tells nothing about its value."""
        self._by_key = by_key
        forms = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)
        self._forms = tuple(forms)
        self._own = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        # Known secrets first, the longest first: no pattern may uncover the rest of one.
        self._known = [re.compile("|".join(map(re.escape, forms)))] if forms else []
        self._patterns = self._known + self._own
        self._folded = tuple(escape(form).casefold() for form in forms)
        self.margin = max(map(len, forms), default=0) + _MARGIN
        """How much of a text must be seen behind a place to know whether a secret begins before it."""

    def may_touch(self, json: str) -> bool:
        """Whether anything in this JSON text could need masking; False is certain, True is a suspicion."""
        if self._own:
            return True
        # These escapes can spell any key and any secret in another way; the others are the only way there is.
        if "\\" in json and ("\\u" in json or "\\/" in json):
            return True
        folded = json.casefold()
        # Every key that one of the two patterns finds holds one of these. Written out: a loop over them takes
        # a fifth longer, and `any` three times as long.
        if (
            "pass" in folded
            or "pwd" in folded
            or "secret" in folded
            or "token" in folded
            or "auth" in folded
            or "key" in folded
            or "cookie" in folded
            or "credential" in folded
            or "bearer" in folded
            or "jwt" in folded
            or "connection" in folded
        ):
            return True
        if self._folded:  # mostly there are none, and then even to begin a loop takes as long as a search
            for form in self._folded:
                if form in folded:
                    return True
        return False

    def sensitivity(self, key: str) -> Sensitivity:
        if not self._by_key:
            return Sensitivity.NONE
        if any(pattern.search(key) for pattern in self._own):
            return Sensitivity.ALL
        return _sensitivity(key)

    def text(self, text: str) -> str:
        """The text without the secrets in it."""
        # Looking for each is far cheaper than looking for any, and mostly there is none.
        known = any(form in text for form in self._forms)
        return _without(self._patterns if known else self._own, text)

    def known(self, text: str) -> str:
        """A key, or what others see, without known secrets; what a pattern of the user's own finds stays."""
        return _without(self._known, text)


def _without(patterns: Sequence[re.Pattern[str]], text: str) -> str:
    for pattern in patterns:
        text = pattern.sub(MASKED, text)
    return text


def _forms(secret: str) -> Iterator[str]:
    """A secret as it is, as JSON inside a string shows it, and its telling lines likewise."""
    for part in {secret, *(line for line in secret.splitlines() if len(line) >= _LINE)}:
        if part:
            yield part
            yield escape(part)
            if not part.isascii():
                import json  # which has a second way to write such a string

                yield json.dumps(part)[1:-1]
