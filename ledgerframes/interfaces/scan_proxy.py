"""`ThroughValidator`: scan's present state asked through a validator where there is no scan; `Network` makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NoReturn, TypeVar

import msgspec

from ledgerframes.config.settings import Interface
from ledgerframes.errors import ConfigurationError
from ledgerframes.interfaces import scan_now
from ledgerframes.interfaces.calls import Sender
from ledgerframes.interfaces.scan import ANS_RULES
from ledgerframes.transport import Answer, Stop
from ledgerframes.transport.outcome import Sink
from ledgerframes.transport.request import Endpoint, Prepared, Request
from ledgerframes.transport.retrying import Revise
from ledgerframes.transport.server_preferences import PageLimits

T = TypeVar("T")

_PREFIX: Final = "/v0/scan-proxy"
#: What the official scan-proxy file names of what scan serves.
_SERVED: Final = frozenset(
    {
        scan_now.ROUNDS, scan_now.NAMES, scan_now.NAME_BY_PARTY, scan_now.NAME_BY_NAME, scan_now.FEATURED_APP,
        scan_now.DSO, ANS_RULES,
    }
)  # fmt: skip
_GIVES: Final = (
    "a validator gives names, name rules, open and issuing rounds, super validators, a provider's featured app right"
    " (net.scan.featured_app) and holdings summaries, and no history, snapshot, license, traffic or list of scans: give"
    " scan_url= for those, or ledger_url= for a participant's own history (lf.load_ledger_history)"
)


@dataclass(frozen=True)
class ThroughValidator:
    """A way to send requests to scan that a validator passes on; others are refused before they are sent."""

    sender: Sender

    def send(
        self,
        request: Request,
        *alternatives: Request,
        read: Callable[[bytes], T],
        server: str | tuple[str, ...] | None = None,
        revise: Revise | None = None,
        attempts: int | None = None,
    ) -> Answer[T]:
        """Send the request to the validator.

        Raises:
            ConfigurationError: a validator does not serve it.
        """
        del alternatives
        rounds = request.endpoint == scan_now.ROUNDS
        return self.sender.send(
            _passed_on(request), read=(lambda body: read(_by_contract(body))) if rounds else read, server=server,
            revise=revise, attempts=attempts,
        )  # fmt: skip

    def prepare(self, request: Request) -> Prepared:
        """The request as it would go out, unsent."""
        return self.sender.prepare(_passed_on(request))

    def download(self, url: str, sink: Sink) -> NoReturn:
        """Refuse.

        Raises:
            ConfigurationError: always.
        """
        del url, sink
        raise ConfigurationError(f"there is no scan here to fetch objects from: {_GIVES}")

    def servers(self, interface: Interface) -> tuple[str, ...]:
        """The validators' base URLs."""
        return self.sender.servers("validator" if interface == "scan" else interface)

    def pause(self, seconds: float) -> None:
        """Wait."""
        self.sender.pause(seconds)

    def page_limits(self, server: str | None) -> PageLimits:
        """A validator has no pages of histories."""
        del server
        return PageLimits()

    def note_page(self, server: str, size: int, *, came: bool) -> None:
        """There is nothing to note."""

    def learn_page_maximum(self, server: str, maximum: int) -> None:
        """There is nothing to learn."""

    def stoppable(self, stop: Stop) -> ThroughValidator:
        """The same for one operation, which ends once `stop` is set."""
        return ThroughValidator(self.sender.stoppable(stop))


def _passed_on(request: Request) -> Request:
    """The request of the validator's own route.

    Raises:
        ConfigurationError: there is no such route.
    """
    endpoint = request.endpoint
    if endpoint not in _SERVED:
        raise ConfigurationError(f"no scan is known to ask {endpoint} of; {_GIVES}")
    path = _PREFIX + request.path.removeprefix("/v0")
    method = "GET" if endpoint == scan_now.ROUNDS else endpoint.method
    own = Endpoint(interface="validator", method=method, path=_PREFIX + endpoint.path.removeprefix("/v0"))
    if method == "GET":  # the proxy gives all rounds, so it takes no list of those that are known
        return Request(own, path, request.query)
    return replace(request, endpoint=own, path=path)


class _Named(msgspec.Struct):
    contract_id: str


class _Round(msgspec.Struct):
    contract: _Named


_lists: Final = msgspec.json.Decoder(dict[str, list[msgspec.Raw]])
_round: Final = msgspec.json.Decoder(_Round)


def _by_contract(body: bytes) -> bytes:
    """Rounds as scan gives them: by contract id, where the proxy lists them."""
    lists = _lists.decode(body)
    rounds = {name: {_round.decode(item).contract.contract_id: item for item in items} for name, items in lists.items()}
    return msgspec.json.encode(rounds | {"time_to_live_in_microseconds": None})
