"""What can happen to a lake's storage after it was written; `check()` must notice each of these."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from ledgerframes.store.history_tables import ORDER
from tests.simulation.choices import Choices
from tests.simulation.storage import Disk


def damage(disk: Disk, choices: Choices) -> str | None:
    """Do one damage of the seed's choice; say which, or None if there was nothing to damage."""
    kind = choices.pick("rot", 4)
    name = ORDER[choices.pick("rot", 3)]
    states = disk.versions.get(name)
    if not states:
        return None
    if kind == 0:
        del disk.versions[name]
        return f"{name} is gone"
    state = states[-1]
    if not state.commits:
        return None
    number = choices.pick("rot", len(state.commits))
    batch = state.commits[number]
    if kind == 1:
        states[-1] = replace(state, commits=(*state.commits[:number], *state.commits[number + 1 :]))
        return f"the {batch.num_rows} rows of a commit to {name} are gone"
    if kind == 2:
        row = choices.pick("rot", batch.num_rows)
        kept = pa.concat_tables(
            [pa.Table.from_batches([batch.slice(0, row)]), pa.Table.from_batches([batch.slice(row + 1)])]
        ).combine_chunks()
        states[-1] = replace(state, commits=(*state.commits[:number], *kept.to_batches(), *state.commits[number + 1 :]))
        return f"a row of {name} is gone"
    column = "update_id"  # the other columns are guarded by what the storage writes, which memory does not
    row = choices.pick("rot", batch.num_rows)
    values = batch[column].to_pylist()
    values[row] = f"{values[row][:-1]}#"
    place = batch.schema.names.index(column)
    changed = batch.set_column(place, batch.schema.field(place), pa.array(values, batch.schema.field(place).type))
    states[-1] = replace(state, commits=(*state.commits[:number], changed, *state.commits[number + 1 :]))
    return f"a bit of {name}.{column} is flipped"
