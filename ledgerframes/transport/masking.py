"""Removes tokens from everything that is shown: error messages, log lines, headers; the transport keeps one `Mask`."""

from __future__ import annotations

import html
import json
import logging
import re
import threading
from typing import Final
from urllib.parse import quote

MASK: Final = "***"
# Short-lived tokens are renewed all the time; older ones may still occur in messages under way.
REMEMBERED: Final = 64
SHORTEST: Final = 4
# A JWT has three parts between dots, and no part may be shown; shorter ones would match ordinary words.
SHORTEST_PART: Final = 16

_QUERY: Final = re.compile(r'("[A-Z]+ [^\s"?]*)\?[^\s"]*')

# these log headers or URLs by themselves at DEBUG and INFO
LOUD: Final = tuple(
    logging.getLogger(name)
    for name in (
        *("urllib3.connection", "urllib3.connectionpool", "urllib3.poolmanager"),
        *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),  # of httpx.HTTPTransport
    )
)


class Mask:
    """Remembers recently sent tokens and masks them, and their long parts, in any text.

    Tokens of fewer than four characters are left alone: masking them would make every message unreadable.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, None] = {}
        self._pattern: re.Pattern[str] | None = None

    def __repr__(self) -> str:
        return "Mask(***)"

    def learn(self, token: str) -> None:
        """Remember a token that is about to be sent."""
        with self._lock:
            if token in self._tokens or len(token) < SHORTEST:
                return
            self._tokens[token] = None
            for forgotten in list(self._tokens)[:-REMEMBERED]:
                del self._tokens[forgotten]
            forms = {form for known in self._tokens for form in _forms(known)}
            # The longest first, or a part would be replaced inside its token and the rest stay readable.
            self._pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))

    def text(self, text: str) -> str:
        """Return the text without any token."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove tokens from a log record, and let it pass."""
        message = record.getMessage()
        # urllib3 logs whole targets, whose queries may contain signatures.
        masked = self.text(_QUERY.sub(r"\1?***", message) if record.name.startswith("urllib3.") else message)
        if masked != message:
            record.msg, record.args = masked, ()
        return True

    def attach(self) -> None:
        """Watch the loggers of the HTTP libraries."""
        for logger in LOUD:
            logger.addFilter(self)

    def detach(self) -> None:
        """Stop watching."""
        for logger in LOUD:
            logger.removeFilter(self)


def _forms(token: str) -> set[str]:
    """A token, its long parts, and their forms in a URL, JSON, HTML or Python text."""
    parts = {token, *(part for part in token.split(".") if len(part) >= SHORTEST_PART)}
    return {
        form
        for part in parts
        for form in (part, quote(part, safe=""), html.escape(part), json.dumps(part)[1:-1], repr(part)[1:-1])
    }
