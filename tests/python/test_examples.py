"""The examples in the documentation of the package run as they are printed."""

import doctest

import kohort
from kohort import _policy


def test_examples_in_docstrings():
    for module in (kohort, _policy):
        failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        assert failed == 0 and tried > 0
