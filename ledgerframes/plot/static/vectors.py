"""Charts as vectors for a page that is light or dark, drawn here or by a process of their own; imports no pandas."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, Literal

from ledgerframes.plot.contents import Content
from ledgerframes.plot.palette import in_dark, style

#: What the process runs; it imports what this one does.
_PROGRAM: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    " from ledgerframes.plot.static.vectors import answer; answer()"
)
#: Raised where the process has ended.
ENDED: Final = (OSError, EOFError)


def vectors(content: Content, theme: Literal["light", "dark"]) -> str:
    """A chart as SVG.

    Letters as paths look the same in every browser; without a salt, two equal charts would differ.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from ledgerframes.plot.static.charts import figure_with

    sink = io.StringIO()
    with style(theme), rc_context({"svg.fonttype": "path", "svg.hashsalt": "ledgerframes"}):
        figure = figure_with(content)
        figure.set_layout_engine("none")  # it is laid out
        # Not savefig: it draws everything once before, for sizes that are known here.
        FigureCanvasSVG(figure).print_svg(sink, metadata={"Date": None})  # type: ignore[no-untyped-call]
    return sink.getvalue()


def in_both(content: Content) -> tuple[str, str]:
    """A chart for a light page and for a dark one."""
    light = vectors(content, "light")
    return light, in_dark(light) or vectors(content, "dark")  # for colours of a heat map


def drawing_process() -> subprocess.Popen[bytes] | None:
    """Start a process that draws while this one computes, as threads of one would wait for each other.

    None if matplotlib is loaded here, so that the other one would do more than this one, and if there is no Python to
    start, as in a program that was made of one file.
    """
    if "matplotlib" in sys.modules or not sys.executable or getattr(sys, "frozen", False):
        return None
    command, pipe = [sys.executable, "-P", "-c", _PROGRAM], subprocess.PIPE
    try:
        # Ctrl-C is for this process, which ends the other.
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, process_group=0)  # noqa: S603 - our own
    except OSError:
        return None
    with suppress(OSError):
        _send(process.stdin, sys.path)
    return process


def drawn_by(process: subprocess.Popen[bytes], content: Content) -> tuple[str, str]:
    """The same as `in_both`, by the process.

    Raises:
        OSError, EOFError: the process has ended, also by this call because something else in it printed.
        Exception: the chart cannot be drawn.
    """
    assert process.stdout is not None, "it was started with pipes"
    _send(process.stdin, content)
    try:
        drawn: tuple[str, str] | Exception = pickle.load(process.stdout)  # noqa: S301 - of this program's own
    except Exception as error:
        process.kill()
        process.wait()  # what is left of its answers must not be taken for those to later contents
        raise EOFError("no chart") from error
    if isinstance(drawn, Exception):
        raise drawn
    return drawn


def answer() -> None:
    """Draw the contents that come from standard input, until it ends; what is printed goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import_module("ledgerframes.plot.static.charts")  # while the other process reads rows
    with suppress(OSError, EOFError):
        while True:
            content = pickle.load(sys.stdin.buffer)  # noqa: S301 - of this program's own
            try:
                drawn: tuple[str, str] | Exception = in_both(content)
            except Exception as error:  # noqa: BLE001 - raised where the chart is awaited
                drawn = error
            _send(answers, drawn)


def _send(pipe: Any, value: Any) -> None:
    pickle.dump(value, pipe)
    pipe.flush()
