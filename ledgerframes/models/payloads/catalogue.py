"""`template_catalogue`: the templates of a history, and the fields of their payloads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import suggesting, whole_number
from ledgerframes.models.computing import computed
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.models.payloads.columns import leaves
from ledgerframes.models.payloads.types import typed
from ledgerframes.tables.network_activity import TEMPLATE_CATALOGUE


@suggesting
def template_catalogue(events: Any, *, sample: int = 1000) -> pd.DataFrame:
    """List the templates of a history: how often created and exercised, by which choices, with which fields.

    Args:
        events: events of `load_events`, a `History`, a `Store`, or a path of Parquet.
        sample: the number of creates per template whose fields are read; a field of later ones only is not listed.

    Returns:
        One row per template, the most frequent first: template_name, package_names (tuple), creates, exercises,
        consuming (exercises that archive the contract), choices (dict of choice to count), first_record_time,
        last_record_time, fields (dict of dotted path to type).

    Raises:
        InputError: columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     catalogue = lf.template_catalogue(lf.load_events(net))
        >>> catalogue.set_index("template_name").fields["Splice.Amulet:Amulet"]["amount.initialAmount"]
        'amount'
    """
    variables = {"sample": whole_number(sample, "sample", least=1)}
    fields: dict[str, dict[str, str]] = {}

    def read(engine: Engine, _: pa.Table) -> Mapping[str, Any]:
        creates = engine.rows("sampled_creates")
        for name in pc.unique(creates["template_name"]).to_pylist():
            fields[name] = _fields(creates.filter(pc.equal(creates["template_name"], name))["payload"])
        return {}

    catalogue: pd.DataFrame = computed(
        TEMPLATE_CATALOGUE, inputs_of(events), as_="pandas", decimals=None, variables=variables, notes=read
    )
    catalogue["choices"] = [json.loads(choices) for choices in catalogue["choices"]]
    catalogue["fields"] = [fields.get(name, {}) for name in catalogue["template_name"]]
    return catalogue


def _fields(payloads: pa.ChunkedArray) -> dict[str, str]:
    """The type of each path."""
    collected = leaves(payloads, None)
    return {path: _type_name(typed(collected.column(path)).type) for path in collected.columns}


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return "amount"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return {pa.int64(): "int64", pa.bool_(): "bool"}.get(kind, "text")
