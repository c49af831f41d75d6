"""`Decoded`: rows about to enter a history, in memory or in stored files; `HistoryTables` commits them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from ledgerframes.store.coverage import Interval, intersection
from ledgerframes.store.coverage_document import Coverage, ShardProgress
from ledgerframes.store.delta.new_files import Destination, NewFile


@dataclass(frozen=True)
class Decoded:
    """The rows of one page by table, the interval that it covers, and the progress of its shard including it.

    Attributes:
        files: rows in files that are stored but not committed yet, by table.
    """

    batches: Mapping[str, pa.RecordBatch]
    span: Interval
    progress: ShardProgress
    files: Mapping[str, Sequence[NewFile]] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The memory that the rows take, plus the size of the files."""
        stored = sum(file.size for files in self.files.values() for file in files)
        decoded: int = sum(batch.nbytes for batch in self.batches.values())
        return stored + decoded


def with_rows(
    pages: Sequence[Decoded], destinations: Mapping[str, Destination], coverage: Coverage
) -> tuple[list[Decoded], dict[str, list[NewFile]]]:
    """Read the files whose rows the store or another page may also have; the others can be added unread.

    Args:
        pages: about to be committed.
        destinations: where the tables are.
        coverage: the coverage.

    Returns:
        The pages, and the files that were read, by table.

    Raises:
        StoreError: a file cannot be read.
    """
    read: dict[str, list[NewFile]] = {name: [] for name in destinations}
    found = []
    for page in pages:
        if not page.files:
            found.append(page)
            continue
        others = [other.span for other in pages if other is not page]
        others.append(page.span._replace(hi=page.progress.interval.lo))  # not covered, so not stored
        batches, files = dict(page.batches), dict(page.files)
        for name, own in page.files.items():
            doubtful = intersection([page.span], [*coverage.common, *others])
            again = [file for file in own if _overlaps(file, page.span.migration_id, doubtful)]
            if again:
                rows = [destinations[name].read(file) for file in again]
                batches[name] = pa.concat_batches([*([batches[name]] if name in batches else []), *rows])
                files[name] = [file for file in own if file not in again]
                read[name] += again
        found.append(replace(page, batches=batches, files=files))
    return found, read


def _overlaps(file: NewFile, migration_id: int, intervals: Iterable[Interval]) -> bool:
    first, last = file.times
    return bool(intersection([Interval(migration_id, first - 1, last)], intervals))
