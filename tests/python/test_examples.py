"""The examples in the documentation of the package run as they are printed."""

import doctest

import kohort
from kohort import _engine, _policy, _results


def test_examples_in_docstrings():
    for module in (kohort, _policy, _results):
        options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
        failed, tried = doctest.testmod(module, optionflags=options)
        assert failed == 0 and tried > 0
    # Its classes are made by `kohort.duckdb` and `kohort.spark`, whose examples ran above.
    assert doctest.testmod(_engine, optionflags=options).failed == 0


def test_every_call_has_an_example_and_every_name_is_explained():
    for name in kohort.__all__:
        own = getattr(kohort, name)
        if name.startswith("_"):
            continue
        assert own.__doc__, name
        if callable(own) and not isinstance(own, type):
            assert ">>>" in own.__doc__, name
        if isinstance(own, type):
            for attribute, value in vars(own).items():
                if not attribute.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    assert value.__doc__, f"{name}.{attribute}"
