"""`expand`: the payloads of one template as typed columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import choice as one_of
from ledgerframes.arguments import entity, flag, names, suggesting, text
from ledgerframes.decoding.personal import is_personal, without_personal
from ledgerframes.errors import InputError
from ledgerframes.frames import Decimals, attrs_of, check_shape, proof_of, shape, to_arrow
from ledgerframes.loaders.history import History
from ledgerframes.models.inputs import is_store, parquet_files
from ledgerframes.models.payloads.columns import THREAD, is_record, leaves, map_chunks
from ledgerframes.models.payloads.declared import as_declared, declared_kinds
from ledgerframes.models.payloads.types import typed
from ledgerframes.tables.history import EVENTS
from ledgerframes.tables.kinds import BOOL, TEXT
from ledgerframes.threads import together

Of = Literal["create", "argument", "result"]
_IDENTITY: Final = ("migration_id", "record_time", "update_id", "event_id", "contract_id")
_NEEDED: Final = (*_IDENTITY, "event_type", "template_name", "choice", "payload")
_MISSING: Final = pa.scalar(None, pa.string())
#: A dot that no backslash precedes.
_STEP: Final = re.compile(r"(?<!\\)\.")
_REST: Final = "payload"  # the column of payloads that are not records


@suggesting
def expand(
    events: Any,
    *,
    template: str,
    fields: Sequence[str] | None = None,
    choice: str | None = None,
    of: Of | None = None,
    infer: bool = True,
    personal: bool | None = None,
    decimals: Decimals | None = None,
    sep: str = ".",
) -> Any:
    r"""Turn the payloads of a template's contracts, or a choice's arguments or results, into typed columns.

    Records become dotted columns (`amount.initialAmount`; a dot in a member's own name is written `\.`). Lists stay
    JSON, and so do maps: records with more than 500 members.
    A column's type is inferred from all its values: decimal text becomes an exact decimal128(38, 10), whole numbers
    int64, ISO times timestamps, `true` and `false` booleans; a column whose values do not all fit one type exactly
    stays text. Nothing is rounded. A template of the network's own has its declared columns and types, whatever the
    rows are, also without any: an amount is decimal also where all are null or whole numbers. It serves what has no
    table of its own, such as activity markers, `Splice.Amulet:FeaturedAppActivityMarker`, or `Splice.Ans:AnsEntry`.

    Args:
        events: a frame of events, a `History`, a `Store`, or a path of Parquet.
        template: `Module:Entity`.
        fields: dotted paths to keep, in this order; all by default. A path to a record returns its JSON.
        choice: expand the exercises of this choice instead of the creates.
        of: `"create"`, `"argument"` or `"result"`: the creates, or the arguments or the results of `choice`; by
            default the arguments if `choice` is given, else the creates.
        infer: False leaves text columns as text.
        personal: True keeps personal data, the contact points of validators' operators; by default it is left out,
            unless the events were loaded with `connect(personal=True)`.
        decimals: how a pandas frame holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`.
        sep: the separator between the steps of a path in a column's name, such as `"_"`.

    Returns:
        One row per event, in the form of `events` (of a store or files: pandas): migration_id, record_time (UTC),
        update_id, event_id, contract_id, and the fields. A field that has the name of one of those columns, or is named
        `payload`, is prefixed with `payload.`. A payload that is not a record (a list, a text) stays whole in a column
        `payload`, which exists only if there is such a payload and `fields` is not given.

    Raises:
        InputError: an argument is not valid, columns are missing, no event has such a template, choice or field (and
            it is not one of the network's own), a payload is not JSON, or two columns would have one name.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     events = lf.load_events(net)
        >>> coins = lf.expand(events, template="Splice.Amulet:Amulet", fields=["owner", "amount.initialAmount"])
        >>> coins.columns.to_list()[-2:]
        ['owner', 'amount.initialAmount']
    """
    fields = None if fields is None else names(fields, "fields")
    text(template, "template", "Module:Entity, as the column template_name has it")
    infer = flag(infer, "infer")
    check_shape("pandas", decimals)
    text(sep, "sep", 'the separator between the steps of a path, such as "_"')
    part = _checked(of, choice)
    needed = tuple("exercise_result" if name == "payload" and part == "result" else name for name in _NEEDED)
    events = _frame_of(events, template, needed)
    personal = attrs_of(events).get("personal") is True if personal is None else flag(personal, "personal")
    hidden = [] if personal else [path for path in fields or () if is_personal(path.replace(".", "/"))]
    if hidden:
        raise InputError(f"fields: {hidden[0]!r} contains personal data; pass personal=True to include it")
    rows = to_arrow(events, EVENTS, needed, name="events").rename_columns(list(_NEEDED))
    declared = declared_kinds(template, choice, part)
    chosen = _chosen(rows, template, choice, known=bool(declared))
    if not personal:
        position = chosen.column_names.index("payload")
        stripped = [part.chunks for part in map_chunks(without_personal, chosen["payload"])]
        chosen = chosen.set_column(position, "payload", pa.chunked_array(chain.from_iterable(stripped), pa.string()))
    records = is_record(chosen["payload"])
    others = pc.any(pc.invert(records)).as_py()
    payloads = pc.if_else(records, chosen["payload"], _MISSING) if others else chosen["payload"]
    expanded = record_fields(payloads, fields, infer=infer)
    kinds = {name: kind if infer or kind is BOOL else TEXT for name, kind in declared.items()}
    for name, kind in kinds.items():
        if name in expanded and infer:
            expanded[name] = as_declared(expanded[name], kind)
    paths = _paths(expanded, declared) if fields is None else list(fields)
    for name in paths:
        if name not in expanded and name not in declared and chosen.num_rows:
            raise InputError(f"fields: no {choice or 'create'} of {template} has {name!r}{_near(name, chosen)}")
    columns = {name: chosen[name] for name in _IDENTITY}
    for name in paths:
        values = expanded.get(name)
        if values is None:
            values = pa.chunked_array([pa.nulls(chosen.num_rows, kinds.get(name, TEXT).arrow)])
        named = _named(name, sep)
        named = named if named not in (*_IDENTITY, _REST) else f"payload{sep}{named}"
        if named in columns:
            raise InputError(
                f"sep={sep!r} is not valid here: two fields would be named {named!r}; give another, or fields="
            )
        columns[named] = values
    if fields is None and others:
        columns[_REST] = pc.if_else(records, _MISSING, chosen["payload"])
    data = pa.table(columns)
    if not isinstance(events, pd.DataFrame):
        return shape(data, as_="arrow" if isinstance(events, pa.Table) else "polars")
    origin = {name: value for name, value in proof_of(events).items() if name != "table"}
    return shape(data, decimals=decimals, attrs=origin)


def _frame_of(events: Any, template: str, needed: Sequence[str]) -> Any:
    """The caller's events as a frame: of a store or files only those of the template."""
    if isinstance(events, History):
        return events.events
    if is_store(events):
        return events.load(EVENTS.name, columns=needed, where={"template_name": entity(template, "template")})
    if not isinstance(events, str | Path):
        return events
    files = parquet_files(events, EVENTS)
    files({*needed}, set(), 0)  # refuses missing columns
    chosen = files.data.to_table(columns=list(needed), filter=pc.field("template_name") == entity(template, "template"))
    return shape(chosen, EVENTS, attrs=attrs_of(files.data))


def _paths(expanded: Mapping[str, pa.ChunkedArray], declared: Collection[str]) -> list[str]:
    """The paths that payloads have, and those that are declared; a record that is null in all rows is its members."""
    parents = {path.rpartition(".")[0] for path in declared}
    there = [path for path, cells in expanded.items() if path not in parents or cells.null_count < len(cells)]
    return list(dict.fromkeys([*there, *declared]))


def _checked(of: str | None, choice_name: str | None) -> str:
    """The choice or create to expand."""
    if of is None:
        return "create" if choice_name is None else "argument"
    one_of(of, "of", get_args(Of))
    if (of == "create") != (choice_name is None):
        needed = "leave choice= out" if of == "create" else "give choice= too"
        raise InputError(f"of={of!r} and choice={choice_name!r} do not go together: {needed}")
    return of


def _named(path: str, sep: str) -> str:
    """The name of a column: the path, with the caller's separator between its steps."""
    return path if sep == "." else sep.join(step.replace("\\.", ".") for step in _STEP.split(path))


def record_fields(
    payloads: pa.ChunkedArray, wanted: Sequence[str] | None, *, infer: bool = True
) -> dict[str, pa.ChunkedArray]:
    """The typed values of each path of a column of JSON records.

    A record can be wanted in addition to its own members; it is read apart from them, as JSON.
    """
    reads: list[Sequence[str] | None] = [None]
    if wanted is not None:
        records = [path for path in wanted if any(other.startswith(f"{path}.") for other in wanted)]
        reads = [[path for path in wanted if path not in records], *([path] for path in records)]
    read = [leaves(payloads, paths) for paths in reads if paths != []]
    cells = {path: columns.column(path) for columns in read for path in columns.columns}
    calls = [partial(typed, column, infer=infer) for column in cells.values()]
    values = together(calls, THREAD, at_once=pa.cpu_count())
    return dict(zip(cells, values, strict=True))


def _chosen(rows: pa.Table, template: str, choice: str | None, *, known: bool) -> pa.Table:
    """The rows of a template or choice; of one that is not among the network's own there has to be one."""
    of_template = pc.equal(rows["template_name"], template)
    if rows.num_rows and not known and not pc.any(of_template).as_py():
        there = pc.unique(rows["template_name"]).drop_null().to_pylist()
        entity = [name for name in there if str(template) in (name.rpartition(":")[2], name.rpartition(".")[2])]
        near = entity[:1] or get_close_matches(str(template), there, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InputError(f"template={template!r}: no event here has it{hint} lf.template_catalogue(events) lists them")
    if choice is None:
        creates = pc.and_(of_template, pc.equal(rows["event_type"], "created_event"))
        return pa.concat_tables(map_chunks(pa.Table.filter, rows.select([*_IDENTITY, _REST]), creates))
    of_choice = rows.filter(pc.and_kleene(of_template, pc.equal(rows["choice"], choice)))
    if rows.num_rows and not known and not of_choice.num_rows:
        there = ", ".join(sorted(pc.unique(rows["choice"].filter(of_template)).drop_null().to_pylist())) or "none"
        raise InputError(f"choice={choice!r}: {template} has {there} here")
    return of_choice


def _near(name: str, chosen: pa.Table) -> str:
    known = list(leaves(chosen["payload"].slice(0, 1000), None).columns)
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known[:20])}"
