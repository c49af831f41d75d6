"""`record` and `replay`: a network that keeps every answer, and one that gives them back without a network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from ledgerframes.errors import InputError
from ledgerframes.network import Network, connect
from ledgerframes.settings import INTERFACES, Settings, is_loopback
from ledgerframes.transport.recording import Recorder, Replayer, begin, recorded_urls

_ENDLESS: Final = 1e9


def record(folder: str | os.PathLike[str], *, net: Network | None = None, **options: Any) -> Network:
    """Connect, and keep every answer with its request in a folder, so that `replay` can give them back.

    Tokens are never written. What a server said only for the moment (429, 5xx) is not kept.

    Args:
        folder: a new folder, or an earlier recording of the same servers to go on with.
        net: a network whose settings to take.
        options: otherwise, the arguments of `connect`.

    Returns:
        A connected network; close it, or use it in a `with` block.

    Raises:
        InputError: the folder holds something else or cannot be written, or both `net` and options are given.
        ConfigurationError: an address, token or profile cannot be used.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=100) as net:
        ...     with lf.record(folder + "/march", net=net) as kept:
        ...         loaded = lf.load_updates(kept)
        ...     with lf.replay(folder + "/march") as again:
        ...         lf.load_updates(again).equals(loaded)
        True
    """
    if net is not None and options:
        raise InputError(f"net= and {sorted(options)[0]}= both say where to connect; give one of them")
    settings = net.settings if net is not None else connect(**options).settings
    place = Path(folder)
    begin(place, {f"{one}_url": list(getattr(settings, f"{one}_url")) for one in INTERFACES})
    return Network(settings, way=lambda wire, mask: Recorder(place, wire, mask))


def replay(folder: str | os.PathLike[str]) -> Network:
    """Serve a recording: the same requests get the same answers, and nothing is sent.

    Args:
        folder: what `record` filled.

    Returns:
        A network; a request that was not recorded is a NoAnswerError that says so.

    Raises:
        InputError: there is no recording in the folder.
    """
    place = Path(folder)
    urls = recorded_urls(place)
    if set(urls) != {f"{one}_url" for one in INTERFACES}:
        raise InputError(f"{str(place)!r} is no recording: it does not name the four interfaces; record anew")
    # A token is asked for before anything is sent; none is sent here.
    given: dict[str, Any] = {name: tuple(own) for name, own in urls.items()}
    for one in ("ledger", "validator"):
        if all(url.startswith("https") or is_loopback(url) for url in urls[f"{one}_url"]):
            given[f"{one}_token"] = "replayed"
    settings = Settings(**given, rate=_ENDLESS)
    return Network(settings, way=lambda wire, mask: Replayer(place))  # noqa: ARG005
