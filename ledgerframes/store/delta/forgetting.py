"""`forget`, `forget_log` remove files and log entries that only older states of a table need; `compact` calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ledgerframes.store.delta.commit_parts import properties
from ledgerframes.store.delta.storage_errors import plain_errors

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: How long logs and files are kept: only `compact(forget_before=)` removes any.
KEEP: Final = "interval 36500 days"
_HOUR: Final = 3_600_000_000


def forget(handle: DeltaTable, micros: int) -> None:
    """Remove the files that only states older than this need, and allow the log of those states to be removed.

    The log's own setting keeps everything, so that no other program shortens it; that setting is suspended until
    `forget_log`.

    Args:
        handle: the table.
        micros: the age in microseconds.

    Raises:
        StoreError: the storage refused.
    """
    hours, seconds = micros // _HOUR, micros // 1_000_000
    with plain_errors(handle.table_uri, "be cleaned"):
        # Delta refuses retentions below a week by default; here the caller chose the time.
        handle.vacuum(retention_hours=hours, dry_run=False, enforce_retention_duration=False)
        handle.update_incremental()
        # The clean-up obeys the table's own setting and takes no argument.
        _retain(handle, f"interval {seconds} seconds")
        handle.create_checkpoint()


def forget_log(handle: DeltaTable) -> None:
    """Remove the log of the states that `forget` dropped; until then the state that it left can be opened.

    Raises:
        StoreError: the storage refused.
    """
    with plain_errors(handle.table_uri, "be cleaned"):
        handle.cleanup_metadata()
        _retain(handle, KEEP)
        handle.create_checkpoint()


def _retain(handle: DeltaTable, duration: str) -> None:
    handle.alter.set_table_properties({"delta.logRetentionDuration": duration}, commit_properties=properties())
