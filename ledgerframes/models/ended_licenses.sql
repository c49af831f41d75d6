-- The number of validators' licenses that were cancelled or withdrawn.
select count(*) as validators
from latest_licenses
where choice in ('ValidatorLicense_Cancel', 'ValidatorLicense_Withdraw')
