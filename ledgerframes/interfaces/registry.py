"""The calls of the token-registry interface: the contract's two, the registry itself and a single instrument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import ListPage, reads
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.commands import DisclosedContract
from ledgerframes.interfaces.rules import Positive32, Text, fits, without_none, writable
from ledgerframes.transport import Endpoint

INFO: Final = Endpoint("registry", "GET", "/registry/metadata/v1/info")
INSTRUMENTS: Final = Endpoint("registry", "GET", "/registry/metadata/v1/instruments")
INSTRUMENT: Final = Endpoint("registry", "GET", "/registry/metadata/v1/instruments/{instrumentId}")
ALLOCATION_FACTORY: Final = Endpoint("registry", "POST", "/registry/allocation-instruction/v1/allocation-factory")


class RegistryInfo(Struct, frozen=True, rename="camel"):
    """A registry's description of itself.

    Attributes:
        admin_id: the party that manages its instruments; with an instrument's id it names the instrument on the ledger.
        supported_apis: minor version by name of the token standard's interfaces that the registry as a whole serves.
    """

    admin_id: str
    supported_apis: dict[str, int]


class PauseInfo(Struct, frozen=True):
    """Why an instrument is paused, and until when (exclusive), if known."""

    reason: str | None = None
    until: str | None = None


class Instrument(Struct, frozen=True, kw_only=True, rename="camel"):
    """An instrument of the registry's admin (contract: Resources, Instrument); older servers send fewer members.

    Attributes:
        id: unique with this admin.
        name: for display, not necessarily unique.
        symbol: for display, not necessarily unique.
        decimals: digits after the point for display and input, 0 to 10.
        supported_apis: minor version by name of the token standard's interface.
        total_supply: decimal text.
        total_supply_as_of: when it was computed, ISO-8601.
        paused: it can be neither transferred nor allocated now.
        pause_info: why, and until when.
        show_account_input_fields: deprecated in favour of the next.
        account_input_fields_to_show: which account fields wallets show.
    """

    id: str
    name: str
    symbol: str
    decimals: Annotated[int, Meta(ge=0, le=10)] = 10
    # Older registries send only id, name, symbol, decimals and these.
    supported_apis: dict[str, int] = {}
    total_supply: str | None = None
    total_supply_as_of: str | None = None
    paused: bool | None = None
    pause_info: PauseInfo | None = None
    show_account_input_fields: bool | None = None
    account_input_fields_to_show: list[Any] | None = None


class InstrumentsPage(ListPage, frozen=True, rename="camel"):
    """A page of instruments; there are more pages until `next_page_token` is empty or None."""

    instruments: list[Instrument]
    next_page_token: str | None = None


class ChoiceContext(Struct, frozen=True, rename="camel"):
    """Additional data that a choice needs with its arguments (contract: Resources, Registry choice context)."""

    choice_context_data: dict[str, Any]
    disclosed_contracts: list[DisclosedContract]


class AllocationFactory(Struct, frozen=True, rename="camel"):
    """The factory to exercise `AllocationFactory_Allocate` on, by contract id, and the choice's context."""

    factory_id: str
    choice_context: ChoiceContext


class Registry(Calls):
    """The token-registry interface: instruments of one admin. One method, one request."""

    interface = "registry"

    @sends(INFO, neighbour=True)
    def info(self) -> Call[RegistryInfo]:
        """Read who manages the instruments and which interfaces the registry serves (GET /registry/metadata/v1/info).

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     info = net.registry.info()
            >>> info.admin_id.startswith("DSO::")
            True
        """
        return Call(INFO.request(), reads(RegistryInfo))

    @sends(INSTRUMENT, neighbour=True)
    def instrument(self, instrument_id: str) -> Call[Instrument | None]:
        """Read one instrument (GET /registry/metadata/v1/instruments/{instrumentId}).

        Args:
            instrument_id: its id with this registry's admin, such as `"Amulet"`.

        Returns:
            None if the admin manages no such instrument.
        """
        path = {"instrumentId": fits(instrument_id, Text, "instrument_id")}
        return Call(INSTRUMENT.request(path=path), reads(Instrument), missing=None)

    @sends(INSTRUMENTS)
    def instruments(self, *, page_size: int | None = None, page_token: str | None = None) -> Call[InstrumentsPage]:
        """Read one page of instruments (contract: GET /registry/metadata/v1/instruments).

        Use `load_instruments` for all of them.

        Args:
            page_size: the most instruments to return, 25 without it; some servers ignore it.
            page_token: the `next_page_token` of the page before; None or empty is the first page.
        """
        size = fits(page_size, Positive32 | None, "page_size")
        token = fits(page_token, str | None, "page_token") or None
        return Call(INSTRUMENTS.request(query={"pageSize": size, "pageToken": token}), reads(InstrumentsPage))

    @sends(ALLOCATION_FACTORY)
    def allocation_factory(
        self, choice_arguments: Mapping[str, Any], *, exclude_debug_fields: bool = False
    ) -> Call[AllocationFactory]:
        """Ask for the factory that creates an allocation (contract: POST …/v1/allocation-factory).

        Args:
            choice_arguments: the arguments of `AllocationFactory_Allocate` in the ledger's JSON encoding, with `{}`
                for `context` and `meta` of `extraArgs`: the answer has their values.
            exclude_debug_fields: leave out members for debugging.

        Raises:
            ConflictError: a contract to be disclosed is in the middle of a reassignment; ask again.
        """
        if not isinstance(choice_arguments, Mapping):
            raise InputError(f"choice_arguments={shown(choice_arguments)}; give a dict")
        extra = choice_arguments.get("extraArgs")
        for name in ("context", "meta"):
            value = extra.get(name) if isinstance(extra, Mapping) else None
            if not isinstance(value, Mapping) or value:
                raise InputError(f"choice_arguments['extraArgs'][{name!r}]={shown(value)}; give an empty dict")
        writable(choice_arguments, "choice_arguments")
        excluded = fits(exclude_debug_fields, bool, "exclude_debug_fields") or None
        body = without_none(choiceArguments=choice_arguments, excludeDebugFields=excluded)
        return Call(ALLOCATION_FACTORY.request(json=body), reads(AllocationFactory))
