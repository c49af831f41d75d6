"""Log lines on standard error: waits rewrite one line of a terminal; `app` sets it up."""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

from ledgerframes.errors import visible

_WAITS = "ledgerframes.transport"
_CLEAR = "\r\x1b[K"


class TerminalLines(logging.StreamHandler[TextIO]):
    """Writes each record on a line of its own, but a wait in place of the wait before it.

    Args:
        stream: a terminal.
        columns: its width.
        escapes: whether it knows the escape code that clears a line; else blanks are written over it.
    """

    def __init__(self, stream: TextIO, columns: int, *, escapes: bool = True) -> None:
        super().__init__(stream)
        self._columns = columns
        self._clear = _CLEAR if escapes else f"\r{' ' * (columns - 1)}\r"
        self._waiting = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        try:
            text = visible(self.format(record))
            wait = record.name.startswith(_WAITS) and record.levelno == logging.WARNING
            begin = self._clear if self._waiting else ""
            self.stream.write(begin + (text[: self._columns - 1] if wait else f"{text}\n"))
            self._waiting = wait
            self.flush()
        except Exception:  # noqa: BLE001 - a handler hands every fault to logging, which prints it
            self.handleError(record)

    def close(self) -> None:
        """Leave the cursor on a line of its own."""
        if self._waiting:
            self.stream.write(self._clear)
            self._waiting = False
            self.flush()
        super().close()


def log_handler(columns: int) -> logging.Handler:
    """Writes log records to standard error: one rewritten line for waits on a terminal, else plain lines."""
    if sys.stderr.isatty():
        # A console of Windows shows escape codes as they are, unless a program switched them on.
        escapes = sys.platform != "win32" and os.environ.get("TERM") != "dumb"
        lines: logging.Handler = TerminalLines(sys.stderr, columns, escapes=escapes)
    else:
        lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    return lines
