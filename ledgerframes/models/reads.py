"""Reads of payloads and results for models: a declaration creates the columns, and the counts of invalid members."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ledgerframes.paging.cursor import Cursor

#: How a member is read, by the macro of that name; `json` keeps it unchanged.
Kind = Literal["amount", "whole", "flag", "instant", "plain", "texts", "amounts", "json"]


@dataclass(frozen=True)
class Member:
    """A member that becomes a column.

    Attributes:
        column: its name.
        kind: how it is read.
        paths: where it may be, as JSON paths without `$.` or `$`; the first existing one counts.
        required: whether a record without it is not understood.
    """

    column: str
    kind: Kind
    paths: tuple[str, ...]
    required: bool = False


def optional(
    kind: Kind, *same: str, within: str | tuple[str, ...] = "", **others: str | tuple[str, ...]
) -> tuple[Member, ...]:
    """Members of one kind, which a record may lack.

    Args:
        kind: how they are read.
        same: those whose column has the name of the member.
        within: where all of them are: how their paths begin, or may begin, such as `amount.`.
        others: the path or paths of each other member, by its column.
    """
    named = {name: name for name in same} | others
    return tuple(
        Member(column, kind, tuple(f"{place}{path}" for path in _each(paths) for place in _each(within)))
        for column, paths in named.items()
    )


def required(
    kind: Kind, *same: str, within: str | tuple[str, ...] = "", **others: str | tuple[str, ...]
) -> tuple[Member, ...]:
    """The same, of those without which a record is not understood."""
    return tuple(replace(member, required=True) for member in optional(kind, *same, within=within, **others))


def _each(paths: str | tuple[str, ...]) -> tuple[str, ...]:
    return (paths,) if isinstance(paths, str) else paths


@dataclass(frozen=True)
class Read:
    """Records of one shape: the creates of some templates, the exercises of some choices, or the items of a list.

    Attributes:
        rows: the relation they are in: `creates`, `exercises`, or another read, of which `json` is a column.
        columns: what else of the rows is kept.
        members: the members of the payload, or of each item, to read.
        results: the members of the result of an exercise to read.
        templates: the templates, where not all.
        choices: the choices, where not all.
        among: a relation that lists those of the templates that are asked for.
        json: the column of another read that holds the records.
        each: whether that column is a list whose items are the records; `place` is their number, from 0.
        bare: whether results may also be other than objects, in some release.
        closed: whether a member that is neither read nor in `ignored` is not understood.
        ignored: members that are known and not read.
    """

    rows: str
    columns: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    results: tuple[Member, ...] = ()
    templates: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    among: str = ""
    json: str = ""
    each: bool = False
    bare: bool = False
    closed: bool = False
    ignored: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns that are kept unchanged."""
        return ["template_name", *([] if self.rows == "creates" else ["choice"]), *self.columns]

    @property
    def needed(self) -> set[str]:
        """The columns of events that it needs."""
        if self.rows not in {"creates", "exercises"}:
            return set()
        texts = {"payload": self.members, "exercise_result": self.results}
        return {*self.names, *(name for name, members in texts.items() if members)}

    @property
    def _records_only(self) -> bool:
        return bool(self.results) and not self.bare

    def sql(self) -> str:
        """The SELECT that creates the columns; `wrong` lists the invalid members."""
        keys = [*self.names, *(["place"] if self.each else [])]
        members = list(self._found())
        found = [f"{json} as m{number}" for number, (_, json) in enumerate(members)]
        typed = [
            f"m{number} as {member.column}" if member.kind == "json" else f"{member.kind}(m{number}) as {member.column}"
            for number, (member, _) in enumerate(members)
        ]
        columns = [*keys, *(member.column for member, _ in members)]
        more = [*(["names"] if self.closed else []), *(["is_record"] if self._records_only else [])]
        return (
            f"select\n  {_lines([*columns, f'{self._wrong()} as wrong'])}\n"
            f"from (select *, {', '.join(typed)}\n"
            f"from (select {', '.join([*keys, *more, *found])}\n"
            f"from ({self._records()})))"
        )

    def _wrong(self) -> str:
        """The SQL of `wrong`: the list is made only where something is wrong."""
        checks = {}
        for number, (member, _) in enumerate(self._found()):
            if member.required:
                checks[member.paths[0]] = f"{member.column} is null"
            elif member.kind != "json":
                checks[member.paths[0]] = f"({member.column} is null and m{number} <> 'null')"
        if self._records_only:
            # A member without a name stands for the whole result.
            checks[""] = "not is_record"
        listed = [f"case when {check} then {literal(path)} end" for path, check in checks.items()]
        wrong = f"list_filter([\n    {_lines(listed)}], lambda name: name is not null)"
        if self.closed:
            known = ", ".join(literal(name) for name in (*_paths(self.members), *self.ignored))
            unknown = f"list_filter(names, lambda name: name not in ({known}))"
            return f"nullif(list_concat({wrong}, {unknown}), [])"
        return f"case when {' or '.join(checks.values())} then {wrong} end" if checks else "null::varchar[]"

    def _found(self) -> Iterator[tuple[Member, str]]:
        """Each member with the SQL of its JSON."""
        for members, values in ((self.members, "p"), (self.results, "r")):
            paths = _paths(members)
            for member in members:
                expressions = [f"{values}[{paths.index(path) + 1}]" for path in member.paths]
                # A member that is null is as good as none.
                if len(expressions) > 1 or member.kind == "json":
                    expressions = [f"nullif({expression}, 'null')" for expression in expressions]
                yield member, expressions[0] if len(expressions) == 1 else f"coalesce({', '.join(expressions)})"

    def _records(self) -> str:
        """The rows with the JSON of all members, read at once."""
        names = ", ".join(self.names)
        if self.each:
            items = f"members({self.json}, '$[*]')"
            numbered = f"unnest({items}) as item, unnest(range(len({items}))) as place"
            return f"select *, {_read('item', self.members)} as p from (select {names}, {numbered} from {self.rows})"
        texts = ((self.json or "payload", self.members, "p"), ("exercise_result", self.results, "r"))
        read = [f"{_read(column, members)} as {values}" for column, members, values in texts if members]
        read += [f"json_keys({self.json}) as names"] if self.closed else []
        read += ["coalesce(exercise_result[1] = '{', true) as is_record"] if self._records_only else []
        chosen = [f"{self.json} is not null"] if self.json else []
        chosen += [
            f"{column} in ({', '.join(map(literal, values))})"
            for column, values in (("template_name", self.templates), ("choice", self.choices))
            if values
        ]
        chosen += [f"template_name in (select template_name from {self.among})"] if self.among else []
        where = f" where {' and '.join(chosen)}" if chosen else ""
        return f"select {', '.join([names, *read])} from {self.rows}{where}"


def _read(column: str, members: tuple[Member, ...]) -> str:
    paths = (literal(f"${path}" if path.startswith("[") else f"$.{path}") for path in _paths(members))
    return f"members({column}, [{', '.join(paths)}])"


def _lines(parts: list[str]) -> str:
    return ",\n  ".join(parts)


def _paths(members: tuple[Member, ...]) -> list[str]:
    return [path for member in members for path in member.paths]


def literal(value: str) -> str:
    """A text as SQL spells it."""
    return "'" + value.replace("'", "''") + "'"


def until_of(moment: Cursor | int | None) -> str:
    """The condition that an item of the history counts."""
    if moment is None:
        return "true"
    # Of the column as it is, so that what lies after it is not read.
    if isinstance(moment, int):
        return f"record_time <= make_timestamptz({moment})"
    here = f"migration_id = {moment.migration_id} and record_time <= make_timestamptz({moment.micros})"
    return f"(migration_id < {moment.migration_id} or ({here}))"
