"""What can happen to a lake's storage after it was written; `check()` must notice each of these."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import pyarrow as pa

from ledgerframes.store.history_tables import ORDER
from tests.simulation.choices import Choices
from tests.simulation.storage import Disk


def damage(disk: Disk, choices: Choices, seen: Mapping[str, Collection[str]]) -> str | None:
    """Do one damage of the seed's choice to what readers see; say which, or None if there was nothing to damage.

    Args:
        disk: what is damaged.
        choices: where the choice comes from.
        seen: the update ids that readers see of each table; rows that a kill left beside them are nobody's loss.
    """
    kind = choices.pick("rot", 4)
    name = ORDER[choices.pick("rot", 3)]
    states, state = disk.versions.get(name), disk.state(name)
    if states is None or state is None or not any(seen.values()):
        return None
    if kind == 0:
        del disk.versions[name]
        return f"{name} is gone"
    place = next(place for place, one in enumerate(states) if one is state)
    if not state.commits:
        return None
    number = choices.pick("rot", len(state.commits))
    batch = state.commits[number]
    column = "update_id"
    values = batch[column].to_pylist()
    rows = [row for row, value in enumerate(values) if value in seen[name]]
    if not rows:
        return None
    if kind == 1:
        states[place] = replace(state, commits=(*state.commits[:number], *state.commits[number + 1 :]))
        return f"the {batch.num_rows} rows of a commit to {name} are gone"
    row = rows[choices.pick("rot", len(rows))]
    if kind == 2:
        kept = pa.concat_tables(
            [pa.Table.from_batches([batch.slice(0, row)]), pa.Table.from_batches([batch.slice(row + 1)])]
        ).combine_chunks()
        states[place] = replace(
            state, commits=(*state.commits[:number], *kept.to_batches(), *state.commits[number + 1 :])
        )
        return f"a row of {name} is gone"
    values[row] = f"{values[row][:-1]}#"  # the other columns are guarded by what the storage writes, unlike memory
    number_of = batch.schema.names.index(column)
    field = batch.schema.field(number_of)
    changed = batch.set_column(number_of, field, pa.array(values, field.type))
    states[place] = replace(state, commits=(*state.commits[:number], changed, *state.commits[number + 1 :]))
    return f"a bit of {name}.{column} is flipped"
