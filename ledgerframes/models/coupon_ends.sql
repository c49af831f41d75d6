-- One row per coupon that an exercise ended, and what became of it. A step of its own: joins of all that a coupon needs at
-- once, each with a part in memory, take more of it than there is.
with
-- Which payment claimed a coupon.
claims as (
  select above.event_id, above_id as payment_id
  from above
  where above_id in (select event_id from payments)
),
ended as (
  select
    contract_id, template_name, choice, event_id, migration_id, record_time, update_id, node_index, parent_event_id
  from exercises
  where consuming and template_name in (select template_name from coupon_kinds)
),
-- Of a contract that ended twice the first end counts. Most ended once, and are not sorted.
repeated as (select contract_id from ended group by contract_id having count(*) > 1),
first_ended as (
  select * from ended anti join repeated using (contract_id)
  union all
  select * from ended semi join repeated using (contract_id)
  qualify row_number() over (partition by contract_id order by migration_id, record_time, update_id, node_index) = 1
),
others_ended as (
  select above.event_id, max(does) as does
  from above
  where does in ('expires below', 'shares')
  group by above.event_id
)
select
  contract_id, kinds.kind, in_coin, record_time as ended_at, update_id as ended_in,
  parent_event_id as ended_below, migration_id as ended_migration, payment_id,
  case
    when choices.does = 'claims' or (choice = 'Archive' and payment_id is not null) then 'claimed'
    when choices.does = 'expires coupon' then 'expired'
    when choices.does = 'withdraws' then 'withdrawn'
    -- New coupons of the same coin take its place.
    when choices.does = 'shares' then 'shared'
    when choice = 'Archive' and others_ended.does = 'expires below' then 'expired'
    when choice = 'Archive' and others_ended.does = 'shares' then 'shared'
  end as outcome
from first_ended
join coupon_kinds as kinds using (template_name)
left join choices using (choice)
left join claims using (event_id)
left join others_ended using (event_id)
