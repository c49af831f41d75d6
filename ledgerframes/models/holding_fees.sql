-- Two rows per row of a holdings summary: the party's unlocked and locked holdings, and the notional fees of both.
select
  record_time, migration_id, computed_as_of_round, party_id, 'unlocked' as lock,
  total_unlocked_coin as holdings, accumulated_holding_fees_unlocked as notional_fees
from holdings_summary
union all
select
  record_time, migration_id, computed_as_of_round, party_id, 'locked',
  total_locked_coin, accumulated_holding_fees_locked
from holdings_summary
order by record_time, migration_id, computed_as_of_round, party_id, lock desc
