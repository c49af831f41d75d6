-- One row per party: its holdings of the coin at the end of the history, and its notional holding fees.
-- The fee of a coin at a round is its rate times the rounds since its creation, at most its amount.
with
moment as (
  select coalesce(getvariable('as_of_round')::bigint, (select min(round) from open_round_numbers), 0) as round
),
coins as (
  select
    owner,
    template_name = 'Splice.Amulet:LockedAmulet' as locked,
    amount,
    -- No lower bound: the servers' formula gives a negative fee for a coin of a later round.
    case
      when rounds < 0 then rate_per_round * rounds
      else least(amount, coalesce(try(rate_per_round * rounds), amount))
    end::decimal(38, 10) as fee
  from (
    select *, (moment.round::hugeint - created_round)::decimal(38, 0) as rounds
    from held_coin_terms
    cross join moment
  )
),
sums as (
  select
    owner,
    sum(amount) filter (not locked) as total_unlocked_coin,
    sum(amount) filter (locked) as total_locked_coin,
    sum(amount) as total_coin_holdings,
    sum(fee) filter (not locked) as accumulated_holding_fees_unlocked,
    sum(fee) filter (locked) as accumulated_holding_fees_locked,
    sum(fee) as accumulated_holding_fees_total,
    sum(amount - fee) filter (not locked) as total_available_coin
  from coins
  group by owner
),
parties as (
  select owner as party_id, 0 as place
  from sums
  where getvariable('parties') is null
  union all
  select unnest(getvariable('parties')::varchar[]) as party_id, generate_subscripts(getvariable('parties')::varchar[], 1)
)
select
  coalesce(make_timestamptz(getvariable('at_micros')::bigint), last_place.record_time) as record_time,
  coalesce(getvariable('at_migration')::bigint, last_place.migration_id, 0) as migration_id,
  moment.round as computed_as_of_round,
  party_id,
  owner is not null as found,
  coalesce(columns(sums.* exclude (owner)), 0)::decimal(38, 10)
from parties
cross join moment
left join last_place on true
left join sums on owner = party_id
order by parties.place, party_id
