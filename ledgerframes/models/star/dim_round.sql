-- One row per mining round that a fact or the history names.
with
named as (
  select round from transfers
  union select round from rewards
  union select round from traffic_purchases
  union select round from mint_burn
)
select key_of(round::varchar) as round_key, * from round_history
union all by name
select key_of(round::varchar) as round_key, round, false as whole
from named
anti join round_history using (round)
where round is not null
order by round
