-- How often each choice was exercised, by template and interface: what no model knows is looked for among these.
select template_name, choice, interface_id, count(*) as rows
from exercises
group by all
