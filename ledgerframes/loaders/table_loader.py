"""`TableLoad`, one load of a table from the caller's wishes to its frame; `OneServer`, from which lists are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeVar

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.arguments import flag, whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.decoding.records import read_records
from ledgerframes.errors import DecodeError, InputError, PagingError, PartialResultError, RequestError, StatusError
from ledgerframes.frames import As, Decimals, Lists, check_shape, provenance, shape
from ledgerframes.interfaces.answers import elements_of, members_of, reading
from ledgerframes.interfaces.calls import Calls
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.tokens import Token, follow_tokens
from ledgerframes.tables.table import Table
from ledgerframes.transport import Answer, Endpoint

if TYPE_CHECKING:
    from ledgerframes.network import Network


#: Releases that are known to have the routes, from recorded answers and published files; no document names the first.
_HAVING: Final = {
    "scan": ("Scan release 0.5.5 does", "scan_url= of a newer one, with its prefix /api/scan"),
    "ledger": ("The interface of release 3.5.14 has it", "ledger_url= of a newer one"),
}


@contextmanager
def needing(*endpoints: Endpoint, instead: str) -> Iterator[None]:
    """Turn "unknown route" into an error that names the route, a release known to have it, and a substitute.

    Args:
        endpoints: the routes that are requested, the newest first.
        instead: what to do otherwise, a sentence without its full stop.

    Raises:
        InputError: the server serves none of them.
    """
    try:
        yield
    except StatusError as error:
        if not error.unknown_route:
            raise
        interface = endpoints[0].interface
        (having, newer), kind = _HAVING[interface], "participant" if interface == "ledger" else interface
        since = endpoints[0].since or f"{having}; whether older ones do is not documented"
        raise InputError(
            f"the {kind} at {error.server} does not serve {' nor '.join(map(str, endpoints))}. {since}. What to do:"
            f" give {newer}, or {instead}"
        ) from error


P = ParamSpec("P")
T = TypeVar("T")
Interface = TypeVar("Interface", bound=Calls)
#: The largest number of rows that Arrow counts; a higher limit means all of them, too.
_MOST: Final = 2**63 - 1

_log = logging.getLogger("ledgerframes.loaders")
# Tokens are opaque: numbers in today's licenses, text elsewhere and in later releases.
_token = msgspec.json.Decoder(int | str | None)
_number = msgspec.json.Decoder(int | None)


@dataclass
class Origin:
    """The servers that answered, whether the answers are complete, and the treatment of personal data.

    Attributes:
        personal: whether the caller keeps personal data, by the loader's keyword or by the setting of `connect`.
        left_out: members that were removed because they hold personal data.
    """

    servers: dict[str, None] = field(default_factory=dict)
    complete: bool = True
    personal: bool = False
    left_out: tuple[str, ...] = ()

    def body(self, call: Callable[P, Answer[bytes] | None], *arguments: P.args, **options: P.kwargs) -> dict[str, Raw]:
        """Send a call and split its answer into members; empty if the call reads a 404 as "there is none".

        Raises:
            DecodeError: the answer is not a JSON object.
        """
        answer = call(*arguments, **options)
        if answer is None:
            return {}
        self.servers[source_of(answer.server)] = None
        with reading(answer.request.endpoint, problem="the answer is not a JSON object"):
            return members_of(answer.value)

    @contextmanager
    def tolerating(self, *, allow_partial: bool) -> Iterator[None]:
        """Turn an error into an incomplete result if the caller allows it."""
        try:
            yield
        except (RequestError, PagingError, DecodeError, PartialResultError) as error:
            if not allow_partial:
                raise
            self.complete = False
            _log.warning("the load ended early: %s", error)


@dataclass
class OneServer(Generic[Interface]):
    """One of an interface's servers: its page tokens and offsets mean nothing to the others.

    Attributes:
        interface: such as `net.scan`.
        origin: records which server answered.
        url: the server; empty until the first answer, since the transport chooses it.
    """

    interface: Interface
    origin: Origin
    url: str = ""

    @property
    def calls(self) -> Interface:
        """The interface, asking this server only."""
        return self.interface.on(self.url) if self.url else self.interface

    def raw(self, call: str, **options: Any) -> Answer[bytes]:
        """Send a call that is given by name, whose answer is never missing."""
        answer: Answer[bytes] | None = getattr(self.calls.raw, call)(**options)
        assert answer is not None
        self.url = answer.server
        self.origin.servers[source_of(answer.server)] = None
        return answer

    def read(
        self,
        pages: Callable[[], Iterator[T]],
        restart: Callable[[], None],
        *,
        again: Callable[[RequestError], bool] = lambda _: False,
    ) -> Iterator[T]:
        """Yield everything from the pages of one server; if it fails on the way, begin again with another one.

        Args:
            pages: reads from the beginning.
            restart: called before another beginning: what was yielded so far is void.
            again: whether the same server is read once more after an error.

        Raises:
            RequestError: no server gave everything, or one refused the request.
        """
        before, failed = dict(self.origin.servers), set[str]()
        while True:
            try:
                yield from pages()
            except RequestError as error:
                if not again(error):
                    failed.add(self.url)
                    others = [other for other in self.interface.servers if self.url and other not in failed]
                    if denies(error) or not others:
                        raise
                    self.url, self.origin.servers = others[0], before.copy()
                _log.warning("reading again from the beginning, from %s: %s", self.url, error)
                restart()
            else:
                return


@dataclass(frozen=True)
class TableLoad:
    """One load of a table: the network, the requested form of the table, and the servers that answered.

    Attributes:
        net: the network.
        table: the table, with the columns that the caller's keywords add.
        names: the columns to keep.
        limit: the most rows.
        origin: the servers that answered.
        needs: the routes that are requested, the newest first, if not every server has them.
        instead: the remedy if none of them is served.
        omitted: the paths of columns that no keyword of the caller adds; their values are in no other column.
    """

    net: Network
    table: Table
    names: tuple[str, ...]
    as_: As
    decimals: Decimals
    lists: Lists
    limit: int | None
    allow_partial: bool
    origin: Origin
    needs: tuple[Endpoint, ...] = ()
    instead: str = ""
    omitted: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        net: Network,
        table: Table,
        *,
        personal: bool | None = None,
        blobs: bool = False,
        columns: Iterable[str] | None = None,
        as_: As = "pandas",
        decimals: Decimals | None = None,
        lists: Lists = "tuple",
        limit: int | None = None,
        allow_partial: bool = False,
    ) -> TableLoad:
        """Check the keywords that loaders of a table take, before anything is sent.

        Args:
            net: the network.
            table: the table.
            personal: keep the operators' contact points: a column, and the member in `payload`. None takes the setting
                of `connect`.
            blobs: keep `created_event_blob`; of licenses, it is more than half of the bytes and contains the contact
                points, so it needs `personal=True`.
            columns: the columns to keep, in this order; all by default.
            as_: `"pandas"`, `"arrow"` or `"polars"`.
            decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as
                the network's `connect(decimals=)` says, else `"float"`.
            lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
            limit: load at most this many rows. If it ends the result, `attrs["limit"]` says so.
            allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.

        Raises:
            InputError: one of them breaks a rule.
        """
        effective = net.settings.decimals if decimals is None else decimals
        check_shape(as_, effective, lists)
        most = None if limit is None else min(whole_number(limit, "limit", least=1), _MOST)
        keeps = net.settings.personal if personal is None else flag(personal, "personal")
        options = {"personal": keeps, "blobs": flag(blobs, "blobs")}
        omitted = tuple(column.source for column in table.columns if not options.get(column.option, True))
        table = table.having(*(name for name, wanted in options.items() if wanted)) if omitted else table
        partial = flag(allow_partial, "allow_partial")
        origin = Origin(personal=keeps)
        return cls(net, table, table.pick(columns), as_, effective, lists, most, partial, origin, omitted=omitted)

    @property
    def endpoint(self) -> str:
        """Method and path of the endpoint that fills the table, for messages."""
        return self.table.endpoints[0]

    def of_table(self, table: Table) -> TableLoad:
        """The same for a second table that comes with the first one, with all its columns and rows."""
        return replace(self, table=table, names=table.names, limit=None, omitted=())

    @contextmanager
    def asking(self, *needs: Endpoint) -> Iterator[list[Raw]]:
        """Turn an error into an incomplete result if the caller allows it, and explain a missing route.

        Yields a list for the items that arrive until then.

        Args:
            needs: the routes that are requested now; by default all that the loader declares.
        """
        routes = needs or self.needs
        explained = needing(*routes, instead=self.instead) if routes else nullcontext()
        with self.origin.tolerating(allow_partial=self.allow_partial), explained:
            yield []

    def items(
        self, name: str, call: Callable[P, Answer[bytes] | None], *arguments: P.args, **options: P.kwargs
    ) -> list[Raw]:
        """Send a call and return the list in a member of its answer.

        Raises:
            DecodeError: it is missing or not a list.
        """
        return items_of(self.origin.body(call, *arguments, **options), name, self.endpoint)

    def read(
        self, items: Sequence[bytes | Raw], *, left_out: Sequence[str] = (), **supplied: list[Any]
    ) -> pa.RecordBatch:
        """Decode items into the table's columns; `supplied` are the columns that are not in them, by name.

        Raises:
            DecodeError: an item breaks the contract.
        """
        return read_records(self.table, items, self.endpoint, supplied=supplied, left_out=[*self.omitted, *left_out])

    def frame(
        self, batch: pa.RecordBatch | pa.Table, *, cursor: Cursor | None = None, part: str = "", **attributes: Any
    ) -> Any:
        """Select the caller's columns and rows; `attributes` are attributes in addition to the provenance.

        Args:
            batch: the rows.
            cursor: the place that they belong to.
            part: what was asked for, in words; the table's name by default.
        """
        origin = self.origin
        attrs = attributes | provenance(
            sources=tuple(origin.servers), range=part or self.table.name, cursor=cursor, complete=origin.complete,
            personal=origin.personal, left_out=origin.left_out, decimals=self.decimals,
        )  # fmt: skip
        # Cut again here, because a page can have more than the limit.
        whole = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        data = whole.slice(0, self.limit).select(list(self.names))
        attrs |= {"table": self.table.name, "rows": len(data)}
        if len(data) == self.limit:
            attrs["limit"] = self.limit
        return shape(data, self.table, as_=self.as_, decimals=self.decimals, lists=self.lists, attrs=attrs)

    def paged(
        self,
        interface: Calls,
        call: str,
        *,
        items: str,
        following: str,
        argument: str,
        number: bool = False,
        optional: bool = False,
        **options: Any,
    ) -> list[Raw]:
        """Collect the items of all pages of one server, up to the caller's limit.

        If that server fails on the way, another one is read from the beginning: its page tokens mean nothing to others.

        Args:
            interface: such as `net.scan`.
            call: the name of its call for one page, such as `validator_licenses`.
            items: the member with the page's items.
            following: the member with the next page's token.
            argument: the call's argument for it.
            number: whether it is a number of a body; a query has it as text, also where a server sends a number.
            optional: the contract allows a page without items to omit the member.
            options: the call's other arguments.
        """
        one = OneServer(interface, self.origin)

        def fetch(token: Token | None) -> dict[str, Raw]:
            given = {} if token is None else {argument: token if number else str(token)}
            return self.origin.body(one.raw, call, **options, **given)

        def split(page: dict[str, Raw]) -> tuple[list[Raw], Token | None]:
            with reading(self.endpoint, item=f"{following!r} is not a page token"):
                token = (_number if number else _token).decode(page.get(following, b"null"))
            if optional and bytes(page.get(items, b"null")) == b"null":
                return [], token
            return items_of(page, items, self.endpoint), token

        return self.whole(one, lambda: islice(follow_tokens(fetch, split, self.endpoint), self.limit))

    def whole(self, one: OneServer[Any], pages: Callable[[], Iterator[T]]) -> list[T]:
        """Everything that `one.read` yields, or what came before the error that the caller allows."""
        read: list[T] = []
        with self.asking():
            for item in one.read(pages, read.clear):
                read.append(item)  # noqa: PERF402 - what came before an error stays
        return read


def items_of(members: Mapping[str, Raw], name: str, endpoint: str) -> list[Raw]:
    """The list in a member of an answer.

    Raises:
        DecodeError: it is missing or not a list.
    """
    with reading(endpoint, problem=f"{name!r} is missing or not a list", column=name):
        return elements_of(members[name])


def denies(error: RequestError) -> bool:
    """Whether a server understood and refused, so that another one would do the same."""
    return isinstance(error, StatusError) and error.status in {400, 401, 403}
