"""`Dimensions`: the keys of what facts name, and every member once; the facts ask it, `members` become rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.store.star.keys import Keys, composite, day_texts, days_of
from ledgerframes.store.star.members import Members

#: Between days further apart than this, only those that occur have a row in dim_date.
_MOST_DAYS: Final = 100_000
Days = np.ndarray[Any, np.dtype[np.int64]]


@dataclass
class Dimensions:
    """What the facts named so far.

    Attributes:
        keys: how keys are computed.
        parties: members of dim_party, as for the others.
    """

    keys: Keys
    parties: Members = field(default_factory=lambda: Members("dim_party"))
    rounds: Members = field(default_factory=lambda: Members("dim_round"))
    templates: Members = field(default_factory=lambda: Members("dim_template"))
    synchronizers: Members = field(default_factory=lambda: Members("dim_synchronizer"))
    validators: Members = field(default_factory=lambda: Members("dim_validator"))
    dates: Members = field(default_factory=lambda: Members("dim_date"))
    _days: set[int] = field(default_factory=set)

    def party(self, ids: Any, times: Any = None) -> pa.Array:
        """The keys of parties; null is none."""
        return self._named(self.parties, self.keys.of(ids), ids, times)

    def validator(self, ids: Any) -> pa.Array:
        """The keys of validators, by their parties."""
        return self._named(self.validators, self.keys.of(ids), ids, None)

    def synchronizer(self, ids: Any, times: Any = None) -> pa.Array:
        """The keys of synchronizers."""
        return self._named(self.synchronizers, self.keys.of(ids), ids, times)

    def template(self, packages: Any, names: Any, times: Any = None) -> pa.Array:
        """The keys of templates; null where there is no name."""
        natural = composite([packages, names])
        natural = pc.if_else(pc.is_valid(names), natural, pa.scalar(None, pa.string()))
        return self._named(self.templates, self.keys.of(natural), natural, times)

    def round(self, numbers: Any) -> pa.Array:
        """The keys of rounds; null is none."""
        return self._named(self.rounds, self.keys.of_numbers(numbers), numbers.cast(pa.string()), None)

    def date(self, times: Any) -> pa.Array:
        """The keys of the days of times; null is none."""
        return self.day(days_of(times))

    def day(self, days: pa.Array) -> pa.Array:
        """The keys of days since 1970; null is none."""
        self._days.update(pc.unique(days.drop_null()).to_pylist())
        return self.keys.of_days(days)

    def all_days(self) -> Days:
        """The days that dim_date has, in order."""
        return whole_days(np.array(sorted(self._days), np.int64))

    def date_keys(self, days: Days) -> pa.Array:
        """The keys of the rows of dim_date.

        Raises:
            StoreError: two of them have one key.
        """
        numbers = pa.array(days, pa.int64())
        keys = self.keys.of_days(numbers)
        self.dates.add(keys, day_texts(numbers))
        return keys

    def _named(self, members: Members, keys: pa.Array, naturals: Any, times: Any) -> pa.Array:
        members.add(keys, naturals, times)
        return keys


def whole_days(days: Days) -> Days:
    """All days from the first to the last; where these are too far apart, the days themselves."""
    if not len(days) or days[-1] - days[0] > _MOST_DAYS:
        return days
    return np.arange(days[0], days[-1] + 1, dtype=np.int64)
