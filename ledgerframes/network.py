"""A connected network: the four interfaces behind one name, as `lf.connect` and `lf.sandbox` return it."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ledgerframes.arguments import choice, flag, suggesting
from ledgerframes.config.profiles import may_be_token, resolve
from ledgerframes.config.settings import DECIMALS, INTERFACES, Settings, Token, check_url
from ledgerframes.errors import ConfigurationError, InsecureHttpWarning
from ledgerframes.results import html_pairs
from ledgerframes.transport import Clock, Sender, Stats, Transport
from ledgerframes.transport.public_addresses import why_not_public

if TYPE_CHECKING:
    import httpx

    from ledgerframes.frames import Decimals
    from ledgerframes.interfaces.listed_scans import Refusal
    from ledgerframes.sandbox.server import Sandbox

Urls = str | Sequence[str]


class Network:
    """One network's interfaces, with their addresses, tokens and rate limit.

    A context manager; without `with`, it lives until the interpreter ends. Threads may share one, and a forked process
    opens connections of its own.

    Args:
        settings: addresses, tokens, limits.
        sandbox: the embedded ledger behind it, stopped with it.
        clock: the clock for waits; a test passes one that does not sleep.
        transport: sends the requests, in place of urllib3; see `Transport`.
        refusal: explains why a scan that the network lists must not be asked; None allows it.
        begins_after: the record time after which opened objects contain everything; None for servers.

    Attributes:
        transport: sends the requests.
        scan: the scan interface: the contract's six calls and their neighbours; if there is a validator and no scan,
            the calls that the validator forwards.
        ledger: the ledger interface: the contract's eight calls and their neighbours.
        validator: the validator interface's four calls.
        registry: the token registry, the first of several: the contract's two calls and their neighbours;
            `net.registry.on(url)` is another issuer's.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sandbox: Sandbox | None = None,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
        refusal: Refusal = why_not_public,
        begins_after: int | None = None,
    ) -> None:
        from ledgerframes.interfaces.ledger import Ledger
        from ledgerframes.interfaces.registry import Registry
        from ledgerframes.interfaces.scan import Scan, passed_on
        from ledgerframes.interfaces.validator import Validator

        def list_scans() -> tuple[str, ...]:
            from ledgerframes.interfaces.listed_scans import listed_scans

            return listed_scans(settings, refusal, clock, self.transport.shared())

        self.begins_after = begins_after
        self.settings = settings
        self._sandbox = sandbox
        self._pid = os.getpid()
        # At once: created by several threads, or while another one forks, there could be two, or a lock held forever.
        self.transport = Transport(
            settings,
            clock=clock,
            transport=transport,
            list_scans=list_scans if settings.failover == "network" else None,
        )
        alone = bool(settings.validator_url) and not settings.scan_url
        sender = Sender(self.transport)
        self.scan = Scan(Sender(self.transport, passed_on=passed_on) if alone else sender)
        self.ledger = Ledger(sender, has_token=settings.token("ledger") is not None)
        self.validator = Validator(sender)
        # Each registry is another issuer's, so that none answers for the first.
        registry = Registry(sender)
        self.registry = registry.on(settings.registry_url[0]) if settings.registry_url else registry

    @property
    def is_remote(self) -> bool:
        """Whether another process can reach it by its settings; objects opened here cannot be reached."""
        return self.begins_after is None

    @property
    def sandbox(self) -> Any:
        """The embedded ledger's handle: `.url`, `.token(user)`, `.advance(updates=)`, `.stop()`.

        Raises:
            ConfigurationError: this network is not a sandbox.
        """
        if self._sandbox is None:
            raise ConfigurationError("this network is not a sandbox; start one with ledgerframes.sandbox()")
        return self._sandbox

    @property
    def stats(self) -> Stats:
        """Counts of requests, bytes, retries and waits so far."""
        return self.transport.stats

    def close(self) -> None:
        """Close the connections, and stop the sandbox if there is one; a forked child leaves its parent's alone."""
        self.transport.close()
        if self._sandbox is not None and self._pid == os.getpid():
            self._sandbox.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        urls = [f"{name} {url}" for name in INTERFACES for url in getattr(self.settings, f"{name}_url")]
        return f"<Network {', '.join(urls)}>"

    def _repr_html_(self) -> str:
        """Its addresses and the form of amounts, for notebooks; without tokens."""
        urls = [(name, ", ".join(getattr(self.settings, f"{name}_url")) or "not connected") for name in INTERFACES]
        kind = "an embedded, simulated ledger" if self._sandbox is not None else "a network"
        return html_pairs([("Network", kind), *urls, ("amounts in pandas", self.settings.decimals)])


@suggesting
def connect(
    network: Urls | None = None,
    /,
    *,
    profile: str | None = None,
    scan_url: Urls | None = None,
    validator_url: Urls | None = None,
    registry_url: Urls | None = None,
    ledger_url: Urls | None = None,
    token: Token | None = None,
    token_oauth: Mapping[str, str] | None = None,
    scan_token: Token | None = None,
    validator_token: Token | None = None,
    registry_token: Token | None = None,
    ledger_token: Token | None = None,
    rate: float | None = None,
    burst: int | None = None,
    parallel: int | None = None,
    attempts: int | None = None,
    budget: float | None = None,
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    deadline: float | None = None,
    max_answer_bytes: int | None = None,
    ledger_carrier: Literal["bearer", "websocket"] | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    insecure_http: bool | None = None,
    personal: bool | None = None,
    failover: Literal["given", "network"] | None = None,
    decimals: Decimals | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Network:
    """Connect to a network; any subset of its interfaces. Nothing is sent yet.

    Arguments that are omitted come from `LEDGERFRAMES_*` variables, then from the profile, then from the defaults of
    `Settings`.

    No token is required here: a server that requires one answers 401, and the error names the argument for it.

    Args:
        network: a profile's name, as `profile=`, or a scan's URL, as `scan_url=`.
        profile: name of a profile in the user's `config.toml`.
        scan_url: base URL of the scan, with its prefix (`https://HOST/api/scan`); a list is tried in turn.
        validator_url: base URL of the validator (`https://HOST/api/validator`).
        registry_url: base URL of the token registry, at the host's root; a list has one for each issuer, and
            `load_instruments` asks them all.
        ledger_url: base URL of the participant's ledger interface.
        token: bearer token for ledger and validator, as text or as a function that returns it. A function's token
            is kept until shortly before its `exp`, or for a minute if it has none; after a 401 it is called again.
        token_oauth: instead, OAuth2 client credentials: `{"issuer": URL, "client_id": …, "secret_env": VARIABLE,
            "audience": …}`; `secret_file` in place of `secret_env`, `token_url` in place of `issuer`, and `scope` if
            the provider requires one. The secret goes only to the issuer's own host, over https.
        scan_token: a token for the scan.
        validator_token: a token for the validator alone.
        registry_token: a token for the token registry.
        ledger_token: a token for the ledger interface alone.
        rate: requests per second and host; loopback is never limited.
        burst: requests that may be sent at once after a pause.
        parallel: requests to one host under way at the same time.
        attempts: the maximum number of attempts of a safe request.
        budget: seconds for one request with all its attempts and waits.
        connect_timeout: seconds for a connection to be established.
        read_timeout: seconds without data in the middle of an answer.
        deadline: seconds for one attempt as a whole.
        max_answer_bytes: the largest accepted answer, in bytes after decompression.
        ledger_carrier: the header that carries the ledger's token (contract: Authentication): `"bearer"` or
            `"websocket"`.
        ca_file: certificates (PEM) of a private authority, trusted in addition to the usual ones, which are the
            public authorities, or those that `SSL_CERT_FILE`, `REQUESTS_CA_BUNDLE` or `SSL_CERT_DIR` name.
        insecure_http: True sends tokens over plain http beyond this machine too, for a participant inside a cluster or
            a compose network. Anyone on the network path can read them, as an `InsecureHttpWarning` says.
        personal: True keeps personal data, the contact points of validators' operators, in what is loaded, expanded
            and exported; by default they are left out (docs/howto/personal-data.md).
        failover: `"network"` asks the scans of `scan_url` for the network's other scans before the first request, and
            uses those if the given ones fail: https and public addresses only, without a token. A `FailoverWarning`
            reports if there are none. `"given"`, the default, asks only those of `scan_url`.
        decimals: how pandas holds amounts unless a loader, or a table computed from its frames, is given a choice:
            `"float"` (the default), `"exact"` (`Decimal`), `"arrow"` or `"string"`. Arrow, Polars and Parquet always
            have exact decimals.
        transport: an `httpx` transport that sends the requests (`httpx.MockTransport` in a test, `httpx.HTTPTransport`
            with certificates or a proxy of its own), in place of urllib3; closed with the network. Retries, rate,
            tokens and bounds work as usual; trusted certificates and proxies are its own, and if it blocks it is
            stopped between two pieces of an answer.

    Returns:
        A network; a context manager, or open until the interpreter ends.

    Raises:
        ConfigurationError: an address, token, limit or profile cannot be used.

    Example:
        >>> net = connect("https://scan.example.com/api/scan")
    """
    arguments = dict(locals())
    if network is not None:
        arguments["profile"], arguments["scan_url"] = _named(network, profile, scan_url)
    if personal is not None:
        arguments["personal"] = flag(personal, "personal")
    if decimals is not None:
        choice(decimals, "decimals", DECIMALS)
    try:
        settings = resolve(**{name: value for name, value in arguments.items() if name not in {"network", "transport"}})
    except ConfigurationError as error:
        # Its frames hold the environment, and so would a traceback that shows their variables.
        raise error.with_traceback(None) from error.__cause__
    if urls := [url for _, url in settings.unencrypted()]:
        warnings.warn(
            f"insecure_http=True: a token goes to {', '.join(urls)} unencrypted, and anyone on the path can use it",
            InsecureHttpWarning, stacklevel=3,
        )  # fmt: skip
    return Network(settings, transport=transport)


def _named(network: Any, profile: str | None, scan_url: Urls | None) -> tuple[str | None, Urls | None]:
    """The profile and the scan's address, one of which is the first argument of `connect`."""
    # None of these messages shows a text that may be a token.
    if not network:
        raise ConfigurationError("connect() was given an empty address: give a profile's name or a scan's URL")
    if not isinstance(network, str | list | tuple):
        raise ConfigurationError(
            f"connect() was given a {type(network).__name__}: give a profile's name or a scan's URL"
        )
    if not isinstance(network, str) or "://" in network:
        if scan_url is not None:
            raise ConfigurationError("connect() was given a scan's address as network and scan_url=; give one of them")
        return profile, network
    if re.search(r"[/.@?#]", network):
        if may_be_token(network):
            raise ConfigurationError(
                "connect() was given neither a profile's name nor a URL; it is not shown, since it may be a token: a"
                " token goes into token=, and a scan's address begins with https://"
            )
        url = check_url("https://" + re.sub(r"^https?:?/+", "", network), "scan_url")
        raise ConfigurationError(f"connect({network!r}) is not a URL: write {url}")
    if profile is not None:
        raise ConfigurationError("connect() was given a profile's name as network and profile=; give one of them")
    return network, scan_url
