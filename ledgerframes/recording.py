"""`record` and `replay`: a network that keeps every answer in a folder, and one that replays them without a network.

A file is named by the digest of method, URL and body, and by how often that request had been sent. None contains
tokens: they are not part of a prepared request, and are masked in answers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import httpx
from msgspec import Struct

from ledgerframes.arguments import path, suggesting
from ledgerframes.config.settings import INTERFACES, Settings, is_loopback
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.export.atomic_write import check_folder
from ledgerframes.interfaces.answers import reads
from ledgerframes.network import Network
from ledgerframes.transport.http import read_answer
from ledgerframes.transport.no_answer import UnusableAnswer
from ledgerframes.transport.request import Failure, Received
from ledgerframes.transport.wire import HttpTransport
from ledgerframes.write_aside import written_aside

FORMAT: Final = 1
ABOUT: Final = "recording.json"
#: A header of every replayed answer.
REPLAYED: Final = "ledgerframes-replayed"
# Other headers may contain cookies or addresses, and nothing reads them.
_RECORDED: Final = ("content-type", "retry-after", "date")
_OF_THE_SENT_BODY: Final = ("content-encoding", "content-length", "transfer-encoding")
_NO_FILES: Final = Failure(
    "a recording contains answers, not objects of hundreds of MB each; use source='pages' with it",
    transient=False,
    elsewhere=False,
)
_PASSING: Final = frozenset({429, 500, 502, 503, 504})  # a recording keeps the final answer
_ANY_RATE: Final = 1e15  # nothing is sent


@suggesting
def record(folder: str | os.PathLike[str], net: Network) -> Network:
    """Keep every answer of a network with its request in a folder, so that `replay` can return them.

    Tokens are never written. Temporary refusals (429, 5xx) are not kept.

    Args:
        folder: a new folder, or an earlier recording of the same servers to continue.
        net: a network as `connect` returns it; its addresses, tokens and limits are used. The answers of scans that
            `failover="network"` finds are not replayed.

    Returns:
        A connected network; close it, or use it in a `with` block.

    Raises:
        InputError: the folder contains something else or cannot be written.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=100) as net:
        ...     with lf.record(folder + "/march", net) as kept:
        ...         loaded = lf.load_updates(kept)
        ...     with lf.replay(folder + "/march") as again:
        ...         lf.load_updates(again).equals(loaded)
        True
    """
    place = Path(path(folder, "folder"))
    settings = net.settings
    _begin(place, {f"{interface}_url": list(getattr(settings, f"{interface}_url")) for interface in INTERFACES})
    inner = net.transport.shared() or HttpTransport(settings)
    return Network(settings, transport=Recorder(place, inner, settings.max_answer_bytes))


def replay(folder: str | os.PathLike[str]) -> Network:
    """Serve a recording: the same requests get the same answers, and nothing is sent.

    Args:
        folder: a folder filled by `record`.

    Returns:
        A network; a request that was not recorded raises a NoAnswerError.

    Raises:
        InputError: there is no recording in the folder.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     with lf.record(folder + "/march", net) as recorded:
        ...         updates = lf.load_updates(recorded)
        ...     with lf.replay(folder + "/march") as replayed:
        ...         lf.load_updates(replayed).equals(updates)
        True
    """
    place = Path(path(folder, "folder"))
    urls = _recorded_urls(place)
    if set(urls) != {f"{interface}_url" for interface in INTERFACES}:
        raise InputError(f"{str(place)!r} is not a recording: it does not name the four interfaces; record again")
    # A token is required before anything is sent; none is sent here.
    values: dict[str, Any] = {name: tuple(own) for name, own in urls.items()}
    for interface in ("ledger", "validator"):
        if all(url.startswith("https") or is_loopback(url) for url in urls[f"{interface}_url"]):
            values[f"{interface}_token"] = "replayed"
    settings = Settings(**values, rate=_ANY_RATE)
    return Network(settings, transport=Replayer(place))


class _About(Struct):
    format: int = 0
    urls: dict[str, list[str]] = {}


class _Answer(Struct):
    status: int
    headers: dict[str, str]
    body: dict[str, str]


_about: Final = reads(_About)
_recorded: Final = reads(_Answer, "answer")


class Recorder(httpx.BaseTransport):
    """Sends through another transport and records the answers; thread-safe.

    Args:
        folder: the target, created by `record`.
        inner: the other transport.
        limit: the largest answer, in bytes after decompression.
    """

    def __init__(self, folder: Path, inner: httpx.BaseTransport, limit: int) -> None:
        self._folder = folder
        self._inner = inner
        self._limit = limit
        self._turns: Counter[str] = Counter()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Make one attempt, recorded if its answer is final; files are refused.

        `request.extensions` has the `Attempt` under "attempt", and may have under "mask" a function that removes tokens
        from a text, and "private" if an answer must not be recorded.

        Raises:
            httpx.TransportError: there is no answer.
            InputError: the folder cannot be written.
        """
        if "pieces" in request.extensions:
            raise UnusableAnswer(_NO_FILES)
        answer = self._inner.handle_request(request)
        if answer.status_code in _PASSING or "private" in request.extensions:
            return answer
        with closing(answer):
            received = read_answer(answer, request.extensions["attempt"], self._limit)
        self._keep(request, received)
        headers = {name: value for name, value in received.headers.items() if name not in _OF_THE_SENT_BODY}
        return httpx.Response(received.status, headers=headers, stream=httpx.ByteStream(received.body))

    def close(self) -> None:
        """Close every connection."""
        self._inner.close()

    def _keep(self, request: httpx.Request, received: Received) -> None:
        """Write an answer with its request.

        Raises:
            InputError: the folder cannot be written.
        """
        mask = request.extensions.get("mask", str)
        digest = _digest_of(request)
        with self._lock:
            # A recording may be continued by another process; its files come first.
            while (target := self._folder / f"{digest}-{self._turns[digest]:04}.json").exists():
                self._turns[digest] += 1
            self._turns[digest] += 1
            recorded_answer = {
                "status": received.status,
                "headers": {name: mask(received.headers[name]) for name in _RECORDED if name in received.headers},
                "body": _written(received.body, mask),
            }
            recorded_request = {
                "method": request.method,
                "url": mask(str(request.url)),
                "body": _written(request.content, mask),
            }
            try:
                _write_json(target, {"request": recorded_request, "answer": recorded_answer})
            except OSError as error:
                raise InputError(f"{str(target)!r} cannot be written: {error}; record elsewhere") from error


def _written(body: bytes, mask: Callable[[str], str]) -> dict[str, str]:
    """A body as text without tokens, or as Base64 if it is not text."""
    try:
        return {"text": mask(body.decode())}
    except UnicodeDecodeError:
        # Tokens are ASCII, and each byte is one character of Latin-1.
        return {"base64": base64.b64encode(mask(body.decode("latin-1")).encode("latin-1")).decode()}


class Replayer(httpx.BaseTransport):
    """Answers from a recording; sends nothing.

    Args:
        folder: the recording.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turns: Counter[str] = Counter()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer recorded for this request; once they are used up, the last one again.

        Raises:
            httpx.TransportError: it was not recorded.
            InputError: the recorded answer cannot be read.
        """
        if "pieces" in request.extensions:
            raise UnusableAnswer(_NO_FILES)
        digest = _digest_of(request)
        with self._lock:
            before, target, after = (
                self._folder / f"{digest}-{self._turns[digest] + step:04}.json" for step in (-1, 0, 1)
            )
            if target.exists():
                self._turns[digest] += 1
            elif after.exists():
                raise InputError(
                    f"{str(target)!r} is missing, and a later answer is there; restore it, or record again"
                )
            elif self._turns[digest]:
                target = before
        if not target.exists():
            # A recording of an earlier release has the answer on the route of that release.
            reason = (
                f"this request was not recorded in {self._folder}, on no route that it may have; replay only what was"
                " loaded, with the same arguments, or record that too"
            )
            raise UnusableAnswer(Failure(reason, transient=False, elsewhere=False, unknown_route=True))
        try:
            recorded = _recorded(target.read_bytes())
            # Reads go by the date of then; `doctor` does not compare it with the clock of now.
            headers = recorded.headers | {REPLAYED: "1"}
            return httpx.Response(recorded.status, headers=headers, stream=httpx.ByteStream(_read(recorded.body)))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{str(target)!r} is not a recorded answer: {error}; record again") from error


def _begin(folder: Path, urls: Mapping[str, list[str]]) -> None:
    """Create a recording's folder, or continue one.

    Raises:
        InputError: the folder contains something else, or cannot be written.
    """
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        new = not (folder / ABOUT).exists()
        other = new and any(folder.iterdir())
        if new and not other:
            _write_json(folder / ABOUT, {"format": FORMAT, "urls": urls})
    except (OSError, ValueError) as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error}; name another folder") from error
    if other:
        raise InputError(f"{str(folder)!r} contains something else; name a new folder for the recording")
    if _recorded_urls(folder) != dict(urls):
        raise InputError(f"{str(folder)!r} is a recording of other servers; name a new folder")


def _recorded_urls(folder: Path) -> dict[str, list[str]]:
    """The servers of a recording, by setting.

    Raises:
        InputError: there is no recording.
        ConfigurationError: a newer version made it.
    """
    try:
        about = _about((folder / ABOUT).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(folder)!r} is not a recording; lf.record(folder, …) makes one") from error
    if about.format != FORMAT:
        raise ConfigurationError(f"{str(folder)!r} was recorded by a newer ledgerframes; replay it with that")
    return about.urls


def _digest_of(request: httpx.Request) -> str:
    """The same digest for equal requests, whatever their headers."""
    parts = (request.method.encode(), str(request.url).encode(), request.content)
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:40]


def _write_json(target: Path, data: Any) -> None:
    """Write a file completely or not at all, and through no link: an existing file of that name is itself replaced."""
    with written_aside(target) as file:
        file.write(json.dumps(data, ensure_ascii=False).encode())


def _read(body: Mapping[str, str]) -> bytes:
    if "text" in body:
        return body["text"].encode()
    return base64.b64decode(body.get("base64", ""), validate=True)
