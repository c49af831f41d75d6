-- One row per day in UTC from the first update to the last: what happened in the network. Each figure is summed by day before
-- the days are joined. An update of which only events or a reassignment are given counts, too.
with
counted as (
  select
    utc_day(record_time) as date, count(*) as updates, count(*) filter (kind = 'transaction') as transactions,
    count(*) filter (kind <> 'transaction') as reassignments
  from (
    select update_id, record_time, kind from updates
    union all
    select distinct update_id, record_time, 'transaction' as kind from events anti join updates using (update_id)
    union all
    select update_id, record_time, kind from reassignments anti join updates using (update_id)
  ) as every_update
  group by all
),
-- Where the history may have a gap, a day without an item is not known to be empty.
days as (select date from history_days where has_items or not may_have_gap()),
acting as (select distinct utc_day(record_time) as date, unnest(acting_parties) as party from events),
firsts as (
  select date, count(*) as new_parties
  from (select party, min(date) as date from acting group by party) as first_days
  group by date
),
recent as (
  select
    days.date, count(distinct party) filter (acting.date = days.date) as active_parties,
    count(distinct party) filter (acting.date > days.date - 7) as active_7d, count(distinct party) as active_30d
  from days
  join acting on acting.date between days.date - 29 and days.date
  group by days.date
),
paid as (
  select
    utc_day(record_time) as date, count(*) as payments, sum_of_all(amount) as paid, sum_of_all(amount_usd) as paid_usd
  from transfers
  -- Coin that a purchase burns nobody receives.
  where sender is distinct from receiver and kind <> 'burn'
  group by all
),
rates as (select round, amulet_price_usd as price, opens_at from round_history where amulet_price_usd is not null),
-- An update that states neither price nor round, such as a tap, has the price of the round that opened last.
priced as (
  select
    utc_day(record_time) as date, burned_fees, net_change, unexplained,
    coalesce(amulet_price_usd, own.price, open.price)::decimal(38, 10) as price,
    list_sum([*columns('^minted_')]) as minted,
    burned_traffic + burned_names + burned_preapprovals + burned_fees + burned_expiry as burned
  from mint_burn
  left join rates as own on own.round = mint_burn.round
  asof left join (select max(price) as price, opens_at from rates group by opens_at) as open
    on mint_burn.record_time >= open.opens_at
),
coin as (
  select
    date, sum_of_all(minted) as minted,
    -- If nothing is minted, no price is needed.
    sum_of_all(case when minted = 0 then 0 else coin(worth(minted, price)) end) as minted_usd,
    sum_of_all(burned) as burned,
    sum_of_all(case when burned = 0 then 0 else coin(worth(burned, price)) end) as burned_usd,
    sum_of_all(burned_fees) as fees, sum_of_all(net_change) as net_change, sum_of_all(unexplained) as unexplained
  from priced
  group by date
),
flowed as (
  select
    utc_day(record_time) as date,
    sum_where(amount, event = 'claimed') as rewards_claimed,
    sum_where(amount, event = 'expired') as rewards_expired
  from reward_flows
  group by all
),
-- By provider: who can mint a coupon may be a user of the application. Shares are made of coupons that count already.
rewarded as (
  select utc_day(created_recorded_at) as date, count(distinct provider) as apps
  from coupon_lives
  where kind = 'app' and created_in in (select update_id from reward_flows where event = 'created')
  group by all
),
-- Private transactions show as verdicts alone.
decided as (
  select
    utc_day(record_time) as date,
    count(*) filter (not has_update and result = 'VERDICT_RESULT_ACCEPTED') as private_transactions,
    count(*) filter (result = 'VERDICT_RESULT_REJECTED') as rejected_requests,
    case when count(*) = count(total_traffic_cost)
      then quantile_disc(total_traffic_cost, 0.5) filter (result = 'VERDICT_RESULT_ACCEPTED') end as median_traffic_cost
  from verdicts
  group by all
),
-- Days whose verdicts are as complete as the events.
decided_days as (
  select days.date
  from days
  cross join (select min(date) as first_date, max(date) as last_date from decided) as given
  cross join (select max(record_time) as time from events) as last
  where coalesce(getvariable('verdicts_known')::boolean, true)
    and days.date between first_date and last_date
    and greatest(epoch_us(days.date), coalesce(getvariable('range_low')::bigint, 0)) >= coalesce(getvariable('verdicts_low')::bigint, 0)
    and least(epoch_us(days.date + 1), coalesce(getvariable('range_high')::bigint, epoch_us(last.time) + 1))
      <= coalesce(getvariable('verdicts_high')::bigint, epoch_us(days.date + 1))
),
bought as (
  select utc_day(record_time) as date, sum(bytes)::bigint as traffic_bytes, sum_of_all(amount) as traffic_paid
  from traffic_purchases
  group by all
)
select
  days.date::timestamp at time zone 'UTC' as time,
  case when coalesce(getvariable('legs_known')::boolean, true) then coalesce(updates, 0) end as updates,
  coalesce(transactions, 0) as transactions,
  case when coalesce(getvariable('legs_known')::boolean, true) then coalesce(reassignments, 0) end as reassignments,
  case when decided_days.date is not null then coalesce(private_transactions, 0) end as private_transactions,
  case when decided_days.date is not null then coalesce(rejected_requests, 0) end as rejected_requests,
  case when decided_days.date is not null then median_traffic_cost end as median_traffic_cost, coalesce(active_parties, 0) as active_parties,
  case when coalesce(getvariable('new_known')::boolean, true) then coalesce(new_parties, 0) end as new_parties,
  case when coalesce(getvariable('new_known')::boolean, true)
    then coalesce(active_parties, 0) - coalesce(new_parties, 0) end as returning_parties,
  -- In a range without all of the days before, fewer are known than existed.
  case when held_whole((days.date - 6)::timestamp at time zone 'UTC', last.time) then coalesce(active_7d, 0) end as active_7d,
  case when held_whole((days.date - 29)::timestamp at time zone 'UTC', last.time) then coalesce(active_30d, 0) end as active_30d,
  coalesce(apps, 0) as apps, coalesce(payments, 0) as payments,
  -- A day without any is 0; a sum with an unknown part is null.
  case when paid.date is null then 0 else columns('^(paid|paid_usd)$') end::decimal(38, 10) as '\1',
  case when coin.date is null then 0 else columns('^(minted.*|burned.*|fees|net_change|unexplained)$') end::decimal(38, 10)
    as '\1',
  case when flowed.date is null then 0 else columns('^(rewards_.*)$') end::decimal(38, 10) as '\1',
  coalesce(traffic_bytes, 0) as traffic_bytes,
  case when bought.date is null then 0 else traffic_paid end::decimal(38, 10) as traffic_paid,
  held_whole(days.date::timestamp at time zone 'UTC', last.time) as whole
from days
cross join (select max(record_time) as time from events) as last
left join decided using (date)
left join decided_days using (date)
left join counted using (date)
left join recent using (date)
left join firsts using (date)
left join paid using (date)
left join coin using (date)
left join flowed using (date)
left join rewarded using (date)
left join bought using (date)
order by time
