"""Every public name explains itself: what it is, what it assumes, where its formula comes from, and an example that runs."""

import inspect
import re

import pytest

import calibcore as cc

FUNCTIONS = sorted(n for n in cc.__all__ if inspect.isfunction(getattr(cc, n)))
# They hand over to others, or to the caller.
NOT_STATISTICS = {"analyze", "compare", "each_group", "inspect", "read", "reduce", "reduce_models", "write_profiles"}
SOURCE = re.compile(r"doi:10\.|arXiv:\d{4}\.\d{4,5}|\(\d{4}\), .*[A-Z][a-z]+ \d+, \d+")


def sections(name):
    return inspect.getdoc(getattr(cc, name)) or ""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_an_example_and_says_what_it_takes_and_gives(name):
    text = sections(name)
    assert ">>>" in text
    assert "Parameters\n" in text or "same arguments as" in text or "arguments of" in text
    assert text[0].isupper()


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in NOT_STATISTICS])
def test_a_statistic_names_its_assumptions_and_its_source(name):
    text = sections(name)
    assert "Notes\n" in text
    assert SOURCE.search(text.partition("References\n")[2])


@pytest.mark.parametrize("name", sorted(set(cc.__all__) - {"__version__"}))
def test_every_public_name_has_a_docstring(name):
    assert len(sections(name)) > 40
