"""The signatures that several loaders share, as type checkers and editors see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack, cast, overload

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import suggesting
from ledgerframes.frames import Decimals, Lists

if TYPE_CHECKING:
    from ledgerframes.network import Network


class FormOptions(TypedDict, total=False):
    """The keywords that every loader of a table takes, for overloads; a test compares them with the signatures."""

    columns: Iterable[str] | None
    decimals: Decimals | None
    lists: Lists
    limit: int | None
    allow_partial: bool


class ContractOptions(FormOptions, total=False):
    """Likewise for a loader of contracts."""

    blobs: bool


class LoadSnapshot(Protocol):
    """A loader of a whole table that takes nothing but the network and the form of the result."""

    @overload
    def __call__(self, net: Network, *, as_: Literal["pandas"] = ..., **form: Unpack[FormOptions]) -> pd.DataFrame: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["arrow"], **form: Unpack[FormOptions]) -> pa.Table: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["polars"], **form: Unpack[FormOptions]) -> Any: ...


class LoadContracts(Protocol):
    """A loader that can keep `created_event_blob` too."""

    @overload
    def __call__(
        self, net: Network, *, as_: Literal["pandas"] = ..., **form: Unpack[ContractOptions]
    ) -> pd.DataFrame: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["arrow"], **form: Unpack[ContractOptions]) -> pa.Table: ...

    @overload
    def __call__(self, net: Network, *, as_: Literal["polars"], **form: Unpack[ContractOptions]) -> Any: ...


def snapshot_loader(load: Callable[..., Any]) -> LoadSnapshot:
    """Declare a loader's result by its `as_`, and let its TypeErrors suggest the nearest keyword."""
    return cast("LoadSnapshot", suggesting(load))


def contract_loader(load: Callable[..., Any]) -> LoadContracts:
    """The same for a loader of contracts."""
    return cast("LoadContracts", suggesting(load))
