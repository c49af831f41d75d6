-- Macros that every model needs. A member that is not valid is null, and `not_understood` counts it.
-- Casts alone will not do: '1.00000000005'::decimal(38, 10) rounds, '1_0' is 10, '12.6'::bigint is 13.

-- An amount from a member's JSON: text with up to 28 digits before the point and 10 after. JSON numbers lose digits.
create or replace macro amount(x) as case
  when regexp_full_match(x, '"-?\d{1,28}(\.\d{1,10}0*)?"') then x[2:-2]::decimal(38, 10)
  -- Servers also send 0E-10 and -1.43E-8: exact if they fit in ten places.
  when regexp_full_match(x, '"-?\d(\.\d{1,9})?[eE]-(\d|1\d|20)"')
    and x[2:-2]::decimal(38, 30) = x[2:-2]::decimal(38, 10)::decimal(38, 30) then x[2:-2]::decimal(38, 10) end;
-- A whole number, as text or as a number.
create or replace macro whole(x) as case
  when regexp_full_match(x, '"-?\d{1,19}"') then try_cast(x[2:-2] as bigint)
  when regexp_full_match(x, '-?\d{1,15}') then x::bigint end;
-- True or false.
create or replace macro flag(x) as case x when 'true' then true when 'false' then false end;
-- An instant with up to nine digits of a second; digits finer than a microsecond are cut off.
create or replace macro instant(x) as case
  when regexp_full_match(x, '"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)"')
  then try_cast(regexp_replace(x[2:-2], '(\.\d{6})\d+', '\1') as timestamptz) end;
-- A text.
create or replace macro plain(x) as case when x[1] = '"' then x ->> '$' end;
-- The members of a JSON text, by one read; null if it is not JSON.
create or replace macro members(json, paths) as try(json_extract(json, paths)::varchar[]);
-- Weight times issuance with all 20 places; null beyond 18 digits before the point, where DuckDB would stop the query.
create or replace macro worth(weight, issuance) as try(weight * issuance);
-- Rounded as the ledger rounds: half even, to ten places.
create or replace macro coin(worth) as round_even(worth, 10)::decimal(38, 10);
-- A sum that is null if one of its values is: sum() leaves nulls out.
create or replace macro sum_of_all(x) as case when count(*) = count(x) then coalesce(sum(x), 0)::decimal(38, 10) end;
-- The same of the rows that fulfil a condition.
create or replace macro sum_where(x, wanted) as case
  when count(*) filter (wanted) = count(x) filter (wanted) then coalesce(sum(x) filter (wanted), 0)::decimal(38, 10) end;
-- An amount as a whole number of its last place, for exact division.
create or replace macro units(x) as replace(x::varchar, '.', '')::hugeint;
-- The amount for a number of units of its last place.
create or replace macro of_units(n) as (try_cast(n as decimal(28, 0)) * 0.0000000001::decimal(10, 10))::decimal(38, 10);
-- Lists of texts and of amounts; null if an item is not one.
create or replace macro texts(x) as case
  when x[1] = '[' and len(list_filter(members(x, '$[*]'), lambda item: plain(item) is null)) = 0
  then list_transform(members(x, '$[*]'), lambda item: plain(item)) end;
create or replace macro amounts(x) as case
  when x[1] = '[' and len(list_filter(members(x, '$[*]'), lambda item: amount(item) is null)) = 0
  then list_transform(members(x, '$[*]'), lambda item: amount(item)) end;
-- Whole numbers of no sign, divided and rounded half even.
create or replace macro divided(n, d) as
  n // d + case when 2 * (n % d) > d or (2 * (n % d) = d and (n // d) % 2 = 1) then 1 else 0 end;
-- Whole numbers divided and rounded down: // rounds towards 0.
create or replace macro floored(n, d) as n // d - case when n % d < 0 then 1 else 0 end;
-- The beginning of the interval in which a time lies: intervals of `every_us` microseconds, by default of a day in UTC.
create or replace macro bucket(time) as
  make_timestamptz(floored(epoch_us(time), step()) * step());
create or replace macro step() as coalesce(getvariable('every_us')::bigint, 86400000000);
-- Whether a range holds all of the interval that begins at a time: what is given is from ledger begin to its last event, if
-- nothing else is set.
create or replace macro held_whole(time, last) as case
  when coalesce(getvariable('range_known')::boolean, true)
  then coalesce(epoch_us(time) >= getvariable('range_low')::bigint, true)
    and epoch_us(time) + step() <= coalesce(getvariable('range_high')::bigint, epoch_us(last) + 1) end;
-- The kind of a coupon of the second version from the JSON that it states: without one it is an application's, and of
-- the kinds that it may state one is validators'. An enumeration is a text, a variant a record with its tag.
create or replace macro reward_kind(stated) as case
  when stated is null then 'app'
  when regexp_matches(coalesce(plain(stated), try(json_extract_string(stated, '$.tag'))), '(?i)validator') then 'validator'
  when regexp_matches(coalesce(plain(stated), try(json_extract_string(stated, '$.tag'))), '(?i)app') then 'app' end;
-- The beginning of the period in which a time lies: of a week, a month or longer in UTC, or of an interval.
create or replace macro period(time) as case
  when getvariable('calendar') is null then bucket(time)
  else date_trunc(getvariable('calendar'), time at time zone 'UTC') at time zone 'UTC' end;
-- Whether the history begins at ledger begin, or an opening is what was before; as it is if nothing is set.
create or replace macro begun() as coalesce(getvariable('begun')::boolean, true);
-- Whether a part of the history may be missing between its first and last item; not if nothing is set.
create or replace macro may_have_gap() as coalesce(getvariable('may_have_gap')::boolean, false);
-- Whether a row is the first that shows its contract: a create that occurs twice in the history, or in the opening too, is
-- one contract, and an assignment shows one created elsewhere.
create or replace macro first_shown(contract_id, shown_by, migration_id, record_time, update_id, node_index) as
  row_number() over (
    partition by contract_id
    order by shown_by = 'assignment', shown_by = 'opening', migration_id, record_time, update_id, node_index) = 1;
-- Whether a template is requested.
create or replace macro asked(name) as
  getvariable('templates') is null or list_contains(getvariable('templates')::varchar[], name);
-- The day in which a time lies, counted from 1970 in UTC.
create or replace macro day_of(time) as floored(epoch_us(time), 86400000000);
-- The day of a time in UTC, and as a number such as 20250303.
create or replace macro utc_day(time) as (time at time zone 'UTC')::date;
create or replace macro date_number(d) as (year(d) * 10000 + month(d) * 100 + day(d))::bigint;
-- The key of a natural key: the first 63 bits of its SHA-256.
create or replace macro key_of(name) as
  (('0x' || substr(sha256(name), 1, 16))::ubigint >> coalesce(getvariable('key_shift'), 1)::ubigint)::bigint;
create or replace macro template_key(package, name) as
  case when name is not null then key_of(json_array(package, name)::varchar) end;
-- The part of an id before `::`, which its operator chose, and the part after it.
create or replace macro hint_of(id) as split_part(id, '::', 1);
create or replace macro fingerprint_of(id) as
  case when contains(id, '::') then nullif(substr(id, strpos(id, '::') + 2), '') end;
