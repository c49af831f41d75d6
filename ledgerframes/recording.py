"""`record` and `replay`: a network that keeps every answer, and one that gives them back without a network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from ledgerframes.arguments import path, suggesting
from ledgerframes.config.settings import INTERFACES, Settings, is_loopback
from ledgerframes.errors import InputError
from ledgerframes.network import Network
from ledgerframes.transport.recording import Recorder, Replayer, begin, recorded_urls
from ledgerframes.transport.wire import Wire

_ENDLESS: Final = 1e9


@suggesting
def record(folder: str | os.PathLike[str], net: Network) -> Network:
    """Keep every answer of a network with its request in a folder, so that `replay` can give them back.

    Tokens are never written. Temporary refusals (429, 5xx) are not kept.

    Args:
        folder: a new folder, or an earlier recording of the same servers to continue.
        net: a network as `connect` returns it; where it is connected to, tokens and limits are taken from it. The
            answers of scans that `failover="network"` finds are not replayed.

    Returns:
        A connected network; close it, or use it in a `with` block.

    Raises:
        InputError: the folder holds something else or cannot be written.

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
    begin(place, {f"{interface}_url": list(getattr(settings, f"{interface}_url")) for interface in INTERFACES})
    return Network(settings, transport=Recorder(place, net.transport.shared() or Wire(settings)))


def replay(folder: str | os.PathLike[str]) -> Network:
    """Serve a recording: the same requests get the same answers, and nothing is sent.

    Args:
        folder: what `record` filled.

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
    urls = recorded_urls(place)
    if set(urls) != {f"{interface}_url" for interface in INTERFACES}:
        raise InputError(f"{str(place)!r} is not a recording: it does not name the four interfaces; record anew")
    # A token is asked for before anything is sent; none is sent here.
    given: dict[str, Any] = {name: tuple(own) for name, own in urls.items()}
    for interface in ("ledger", "validator"):
        if all(url.startswith("https") or is_loopback(url) for url in urls[f"{interface}_url"]):
            given[f"{interface}_token"] = "replayed"
    settings = Settings(**given, rate=_ENDLESS)
    return Network(settings, transport=Replayer(place))
