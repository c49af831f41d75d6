-- One row per validator of listed licenses: its first round, and when that opened. A license is created again at every
-- change, so its own time shows nothing. A round between two known ones is placed on the straight line between them.
with
firsts as (select validator, min(first_round) as round from licenses group by validator)
select
  validator,
  firsts.round,
  -- In whole numbers: microseconds times rounds exceed the 53 exact bits of a float.
  make_timestamptz((epoch_us(earlier.opens_at) + case
    when later.round = earlier.round then 0
    else (epoch_us(later.opens_at) - epoch_us(earlier.opens_at))::hugeint * (firsts.round - earlier.round)
      // (later.round - earlier.round)
  end)::bigint) as time,
  earlier.round <> firsts.round as interpolated
from firsts
asof left join known_rounds as earlier on firsts.round >= earlier.round
asof left join known_rounds as later on firsts.round <= later.round
