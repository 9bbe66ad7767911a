"""Docstrings in the three usual styles."""

from __future__ import annotations

import pytest

from mcp_workbench.worker.docstrings import read

GOOGLE = """Adds numbers.

    Carefully.

    Args:
        x (int): The first,
            on two lines.
        y: The second: with a colon.
        *rest: The rest.

    Returns:
        The sum.
    """
NUMPY = """Adds numbers.

    Carefully.

    Parameters
    ----------
    x : int
        The first,
        on two lines.
    y : int, optional
        The second: with a colon.
    rest
        The rest.

    Returns
    -------
    int
        The sum.
    """
SPHINX = """Adds numbers.

    Carefully.

    :param int x: The first,
        on two lines.
    :type x: int
    :param y: The second: with a colon.
    :param rest: The rest.
    :returns: The sum.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_a_docstring_describes_its_parameters(text: str) -> None:
    described = read(text)
    assert described.parameters == {
        "x": "The first, on two lines.",
        "y": "The second: with a colon.",
        "rest": "The rest.",
    }
    assert described.description.startswith("Adds numbers.\n\nCarefully.")
    assert "The sum." in described.description
    assert "two lines" not in described.description


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring_describes_nothing(text: str | None) -> None:
    assert read(text) == ("", {})


def test_text_without_sections_is_the_description_as_it_is() -> None:
    text = "Does this.\n\nNote: x: y\n\n- one:\n  two"
    assert read(text) == (text, {})


def test_one_numpy_line_may_name_two_parameters() -> None:
    assert read("A.\n\nParameters\n----------\nx, y : int\n    Both\n").parameters == {
        "x": "Both",
        "y": "Both",
    }
