"""Keeps every answer with its request in a folder, and gives them back without a network; `record` and `replay` use it.

A file is named by the digest of method, URL and body, and by how often that request had been sent. Tokens are in none:
they are not part of a prepared request, and are masked in answers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.transport.masking import Mask
from ledgerframes.transport.outcome import Broken, Credential, Received, Sink
from ledgerframes.transport.request import Prepared
from ledgerframes.transport.stopping import Stop

FORMAT: Final = 1
ABOUT: Final = "recording.json"
# Other headers may hold cookies or addresses, and nothing reads them.
_KEPT: Final = ("content-type", "retry-after", "date")
_NO_FILES: Final = "a recording holds answers, not objects of hundreds of MB each; use source='pages' with it"
_PASSING: Final = frozenset({429, 500, 502, 503, 504})  # a recording keeps what was answered in the end


class _About(Struct):
    format: int = 0
    urls: dict[str, list[str]] = {}


class _Kept(Struct):
    status: int
    headers: dict[str, str]
    body: dict[str, str]


class _Turn(Struct):
    answer: _Kept


_about: Final = msgspec.json.Decoder(_About)
_decoder: Final = msgspec.json.Decoder(_Turn)


class Way(Protocol):
    """What carries requests to servers."""

    def send(
        self,
        prepared: Prepared,
        credential: Credential | None,
        *,
        seconds: float,
        stop: Stop,
        sink: Sink | None = None,
    ) -> Received | Broken:
        """One attempt, over after the given seconds or once it is stopped; a sink takes the body of a success.

        Raises:
            StoppedError: the operation was stopped.
        """

    def close(self) -> None:
        """Close every connection."""


class Recorder:
    """Sends by another way and keeps what comes back; any number of threads may share one.

    Args:
        folder: where to; `begin` has made it.
        inner: the other way.
        mask: knows the tokens.
    """

    def __init__(self, folder: Path, inner: Way, mask: Mask) -> None:
        self._folder = folder
        self._inner = inner
        self._mask = mask
        self._turns: Counter[str] = Counter()
        self._lock = threading.Lock()

    def send(
        self,
        prepared: Prepared,
        credential: Credential | None,
        *,
        seconds: float,
        stop: Stop,
        sink: Sink | None = None,
    ) -> Received | Broken:
        """One attempt, kept if it was answered for good; files for a sink are refused."""
        if sink is not None:
            return Broken(_NO_FILES, transient=False, elsewhere=False)
        outcome = self._inner.send(prepared, credential, seconds=seconds, stop=stop)
        if isinstance(outcome, Received) and outcome.status not in _PASSING:
            self._keep(prepared, outcome)
        return outcome

    def close(self) -> None:
        """Close every connection."""
        self._inner.close()

    def _keep(self, prepared: Prepared, outcome: Received) -> None:
        digest = digest_of(prepared)
        with self._lock:
            # A recording may be continued by another process, whose files come first.
            while (target := self._folder / f"{digest}-{self._turns[digest]:04}.json").exists():
                self._turns[digest] += 1
            self._turns[digest] += 1
            answer = {
                "status": outcome.status,
                "headers": {name: self._mask.text(outcome.headers[name]) for name in _KEPT if name in outcome.headers},
                "body": self._written(outcome.body),
            }
            asked = {
                "method": prepared.method,
                "url": self._mask.text(prepared.url),
                "body": self._written(prepared.body or b""),
            }
            try:
                write_json(target, {"request": asked, "answer": answer})
            except OSError as error:
                raise InputError(f"{str(target)!r} cannot be written: {error}; record elsewhere") from error

    def _written(self, body: bytes) -> dict[str, str]:
        """A body as text without tokens, or as Base64 where it is not text."""
        try:
            return {"text": self._mask.text(body.decode())}
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(body).decode()}


class Replayer:
    """Answers from a recording; sends nothing.

    Args:
        folder: the recording.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turns: Counter[str] = Counter()
        self._lock = threading.Lock()

    def send(
        self,
        prepared: Prepared,
        credential: Credential | None,
        *,
        seconds: float,
        stop: Stop,
        sink: Sink | None = None,
    ) -> Received | Broken:
        """The answer that came when this was sent; sent more often, the last one again."""
        del credential, seconds, stop
        if sink is not None:
            return Broken(_NO_FILES, transient=False, elsewhere=False)
        digest = digest_of(prepared)
        with self._lock:
            target = self._folder / f"{digest}-{self._turns[digest]:04}.json"
            if target.exists():
                self._turns[digest] += 1
            elif self._turns[digest]:
                target = self._folder / f"{digest}-{self._turns[digest] - 1:04}.json"
        if not target.exists():
            # A recording of an earlier release has it on the route that was asked then.
            reason = f"this request was not recorded in {self._folder}, on no route that it may have"
            return Broken(reason, transient=False, elsewhere=False, unknown_route=True)
        try:
            kept = _decoder.decode(target.read_bytes()).answer
            return Received(kept.status, kept.headers, _read(kept.body))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{str(target)!r} is not a recorded answer: {error}; record anew") from error

    def close(self) -> None:
        """Nothing is open."""


def begin(folder: Path, urls: Mapping[str, list[str]]) -> None:
    """Make a recording's folder, or continue one.

    Raises:
        InputError: the folder holds something else, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        new = not (folder / ABOUT).exists()
        other = new and any(folder.iterdir())
        if new and not other:
            write_json(folder / ABOUT, {"format": FORMAT, "urls": urls})
    except (OSError, ValueError) as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error}; name another folder") from error
    if other:
        raise InputError(f"{str(folder)!r} holds something else; name a new folder for the recording")
    if recorded_urls(folder) != dict(urls):
        raise InputError(f"{str(folder)!r} is a recording of other servers; name a new folder")


def recorded_urls(folder: Path) -> dict[str, list[str]]:
    """The servers of a recording, by setting.

    Raises:
        InputError: there is no recording.
        ConfigurationError: a newer version made it.
    """
    try:
        about = _about.decode((folder / ABOUT).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(folder)!r} is not a recording; lf.record(folder, …) makes one") from error
    if about.format != FORMAT:
        raise ConfigurationError(f"{str(folder)!r} was recorded by a newer ledgerframes; replay it with that")
    return about.urls


def digest_of(prepared: Prepared) -> str:
    """Equal for equal requests, whatever their headers."""
    parts = (prepared.method.encode(), prepared.url.encode(), prepared.body or b"")
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:40]


def write_json(target: Path, data: Any) -> None:
    """Write a file whole or not at all, and through no link: what is there under its names is replaced itself."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    beside.unlink(missing_ok=True)
    with beside.open("x", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False)
    beside.replace(target)


def _read(body: Mapping[str, str]) -> bytes:
    if "text" in body:
        return body["text"].encode()
    return base64.b64decode(body.get("base64", ""), validate=True)
