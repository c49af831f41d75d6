"""`labels`: names and roles of parties, from a file of the user's and from the data."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from ledgerframes.arguments import path as read_path
from ledgerframes.arguments import shown, suggesting
from ledgerframes.errors import InputError
from ledgerframes.loaders.network_now import load_names
from ledgerframes.loaders.public import load_featured_apps, load_licenses, load_super_validators
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import columns_of, inputs_of
from ledgerframes.network import Network

_COLUMNS: Final = ("party", "label", "kind", "source")
_LONGEST: Final = 200  # as `aliases` takes them
#: The kinds of parties that the data knows; of several the first counts.
_KINDS: Final = ("super validator", "app", "validator", "name")


@suggesting
def labels(path: Any, known: Any = None) -> pd.DataFrame:
    """Join a user's own labels of parties with the names and roles of parties that the data knows.

    After `lf.aliases(lf.labels("labels.csv", net))` charts show labels in place of ids, `show` and the tables of
    reports in a column `label` next to them. Frames, lakes and exports have no labels: programs that
    read those join this frame by `party`. Of what owners of names and validators publish only names are taken, no
    contact points, addresses or descriptions.

    Args:
        path: a CSV file in UTF-8, or a frame, with the columns `party` and `label`, and `kind` and `source` if you
            like; further columns are not read. None for what the data knows alone.
        known: a History, Store or frame of events, or a network: names of the name service, super validators, featured
            apps and validators in it are joined. The user's own label and kind win.

    Returns:
        One row per party, by party: party, label, kind (the user's, else super validator, app, validator or name; null
        if not known), source (the user's, else the file's name or own; scan or history for what the data knows). Who
        has neither a label nor a name is called as the party's id begins.

    Raises:
        InputError: the file cannot be read, lacks a column, has a row without party or label or a label of more than
            200 characters, or gives a party two labels.

    Example:
        >>> import pandas as pd, ledgerframes as lf
        >>> own = pd.DataFrame({"party": ["alice::1220ab"], "label": ["Alice Bank"], "kind": ["customer"]})
        >>> labels = lf.labels(own)
        >>> with lf.aliases(labels) as named:
        ...     named.names
        {'alice::1220ab': 'Alice Bank'}
    """
    facts = pd.DataFrame(columns=_COLUMNS).set_index("party") if known is None else _facts(known)
    found = _own(path).set_index("party").combine_first(facts).sort_index()
    return found.reset_index()[[*_COLUMNS]].astype("str")


def _facts(known: Any) -> pd.DataFrame:
    """The label, kind and source of each party that a network or a history knows."""
    by_kind = _of_network(known) if isinstance(known, Network) else _of_history(known)
    rows = pd.concat([parties.assign(kind=kind) for kind, parties in by_kind.items()], ignore_index=True)
    rows["kind"] = rows["kind"].astype(pd.CategoricalDtype(_KINDS, ordered=True))
    rows["name"] = rows["name"].where(rows["name"] != "")
    facts = rows[rows["party"] != ""].groupby("party").agg(label=("name", "first"), kind=("kind", "min"))
    # Who has no name is called as the party's id begins.
    begins = pd.Series({party: party.partition("::")[0] or party for party in facts.index}, dtype="str")
    source = "scan" if isinstance(known, Network) else "history"
    return facts.assign(label=facts["label"].fillna(begins), kind=facts["kind"].astype("str"), source=source)


def _of_network(net: Network) -> dict[str, pd.DataFrame]:
    """By kind, the parties that a scan lists, with their names; those of the name service come first."""
    names = load_names(net, columns=["party", "name"])
    validators = load_licenses(net, columns=["validator"], personal=False)
    return {
        "name": names[names["name"] != ""],
        "super validator": load_super_validators(net, columns=["party", "name"]),
        "app": load_featured_apps(net, columns=["provider"]).set_axis(["party"], axis=1),
        "validator": validators.set_axis(["party"], axis=1),
    }


def _of_history(events: Any) -> dict[str, pd.DataFrame]:
    """The same from the events."""
    with Engine(inputs_of(events).gives) as engine:
        parties = engine.rows("party_facts").to_pandas()
        validators = engine.rows("license_contracts").select(["validator"]).to_pandas()
    return {
        "name": parties[parties["name"].notna()],
        "super validator": parties[parties["is_super_validator"]],
        "app": parties[parties["is_featured"]],
        "validator": validators.set_axis(["party"], axis=1),
    }


def _own(path: Any) -> pd.DataFrame:
    """The rows of the user's file or frame, checked; each party once."""
    name, rows = ("own", []) if path is None else _read(path)
    found: dict[str, tuple[str, str, str | None, str]] = {}
    for number, (party, label, kind, source) in enumerate(rows, 2 if isinstance(path, str | Path) else 0):
        if not party or not label:
            raise InputError(f"{name}: row {number} has no {'label' if party else 'party'}; fill it in, or take it out")
        if len(label) > _LONGEST:
            raise InputError(f"{name}: the label of {party!r} has {len(label)} characters; give {_LONGEST} at most")
        row = found.setdefault(party, (party, label, kind or None, source or name))
        if row[1] != label:
            raise InputError(f"{name}: {party!r} has two labels, {row[1]!r} and {label!r}; keep one of them")
    return pd.DataFrame(list(found.values()), columns=_COLUMNS)


def _read(path: Any) -> tuple[str, list[list[str]]]:
    """The name of the user's labels in messages, and their rows: the text of each column, empty if there is none."""
    if not isinstance(path, str | Path):
        frame = path.to_pandas() if not isinstance(path, pd.DataFrame) and hasattr(path, "to_pandas") else path
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"path={shown(path)} is not valid: give a CSV file or a frame of party and label, or None")
        _check("labels", columns_of(frame))
        cells = [_texts(frame[name]) if name in frame else [""] * len(frame) for name in _COLUMNS]
        return "own", [list(row) for row in zip(*cells, strict=True)]
    try:
        with Path(read_path(path, "path")).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            _check(str(path), rows.fieldnames or [])
            return Path(path).name, [_cells(path, number, row) for number, row in enumerate(rows, 2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"labels cannot be read from {str(path)!r}: {why}; give a CSV file in UTF-8") from error


def _cells(path: str | Path, number: int, row: Mapping[str | None, Any]) -> list[str]:
    """The text of each column in a row of a file; what follows its last column would be cut off."""
    if None in row:
        raise InputError(
            f"{Path(path).name}: row {number} has more cells than the {len(row) - 1} columns; put a label that"
            ' contains a comma in quotes, as "Smith, Jones and Co"'
        )
    return [(row.get(name) or "").strip() for name in _COLUMNS]


def _check(name: str, columns: Iterable[str]) -> None:
    there = [str(column) for column in columns]
    missing = [column for column in _COLUMNS[:2] if column not in there]
    if twice := [column for column in _COLUMNS if there.count(column) > 1]:
        raise InputError(f"{name} has two columns {twice[0]!r}; keep one of them")
    if missing:
        raise InputError(
            f"{name} lacks the column(s) {', '.join(missing)}; it has {', '.join(there[:12]) or 'none'}; give party and"
            " label, separated by commas, and kind and source if you like"
        )


def _texts(column: pd.Series) -> list[str]:
    cells = column.astype(object).where(column.notna(), "")
    return [str(cell).strip() for cell in cells]
