-- One row per network whose rounds are here, by its DSO; more than one if ranges or an opening of several were joined.
select distinct dso
from round_networks
where dso is not null
order by dso
