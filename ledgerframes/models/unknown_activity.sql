-- Events without a template, or of a kind that no model knows.
select event_type as template_name, null::varchar as choice, 1 as rows
from events
where template_name is null or not (event_type = 'created_event' or choice is not null)
