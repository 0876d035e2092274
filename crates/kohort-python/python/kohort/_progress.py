"""How far a call is: a line in a terminal, or a line below the cell of a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: Told the stage, the steps that are done, and all steps of the stage.
Progress = Callable[[str, int, int], object]

#: A call that takes no longer than this many seconds shows nothing.
QUIET = 2.0

#: The seconds between two writings of the line.
EVERY = 0.2


class _Line:
    """One line that is written again and again."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._start = time.monotonic()
        self._stage = ("", self._start)
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage[0]:
            self._stage = (stage, now)
        if now - self._start < QUIET or now - self._last < EVERY:
            return
        self._last = now
        text = f"{stage or 'working'}: {now - self._start:.0f} s"
        took = now - self._stage[1]
        if total > 0 and done > 0:
            share = min(done / total, 1.0)
            text += f", {100 * share:.0f} %"
            if share > 0.02 and took > 1:
                text += f", about {took * (1 - share) / share:.0f} s left in this stage"
        self._show(text)


def chosen(progress: Progress | bool | None) -> Progress | None:
    """Choose what is told: the caller's own, nothing, or a line where somebody can see it."""
    if callable(progress):
        return progress
    if progress is False:
        return None
    handle = _notebook()
    if handle is not None:
        return _Line(handle)
    if progress is True or sys.stderr.isatty():
        return _Line(_terminal)
    return None


def _terminal(text: str) -> None:
    sys.stderr.write("\r\x1b[K" + text)
    sys.stderr.flush()


def ended(progress: Progress | None) -> None:
    """Clear the line."""
    if isinstance(progress, _Line) and progress._last:
        progress._show("")


def _notebook() -> Callable[[str], None] | None:
    shell: Any = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell is not None else None
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    import IPython.display

    display: Any = IPython.display.display
    shown: list[Any] = []

    def show(text: str) -> None:
        line = {"text/plain": text}
        if shown:
            shown[0].update(line, raw=True)
        else:
            shown.append(display(line, raw=True, display_id=True))

    return show
