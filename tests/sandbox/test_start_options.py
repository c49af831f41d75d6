"""What a sandbox is started with: a value that is not valid is refused with those that are."""

from __future__ import annotations

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.start_options import parse_rate

REFUSED = [
    *(
        ({"days": wrong}, f"days={wrong!r} is not valid: give a whole number from 1 to 3650")
        for wrong in (0, 2.5, 4_000)
    ),
    *(({"days": wrong}, f"days={wrong!r} .* a whole number from 1 to 3650") for wrong in (0, 2.5, True, "90", 4_000)),
    ({"days": 9, "updates": 10}, "days=9 and updates=10 do not go together"),
    *(({"rounds_per_day": wrong}, "rounds_per_day=.* is not valid") for wrong in (0, -1, 1.5, True, "144", 10**6)),
    ({"reward_version": "v2"}, "reward_version='v2'"),
    *(({"release": wrong}, r"'contract', '0\.9', '0\.7' or '0\.5'") for wrong in ("3.5", "")),
    ({"auth": "oauth"}, "auth='oauth' is not valid: give 'token' or 'none'"),
    ({"prune": "30"}, "prune='30' is not valid"),
    ({"prune_before": "yesterday"}, "prune_before='yesterday' is not valid"),
    ({"prune_before": ("1", "2025-03-03")}, "prune_before='1' is not valid"),
    ({"prune_before": "2025-03-03", "prune": "30d"}, "do not go together"),
    *(({"live": wrong}, "live=.*50/s") for wrong in ("50", "0/s", "-1/s", "50/d", "٣/s", "1/s\n")),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=lambda one: ascii(one) if isinstance(one, dict) else "")
def test_what_is_not_valid_is_refused_with_what_is(options, said):
    with pytest.raises(lf.errors.InputError, match=f"(?s){said}"):
        lf.sandbox(**options)


@pytest.mark.parametrize(("text", "rate"), [("0.5/s", 0.5), ("90/min", 1.5), ("36/h", 0.01)])
def test_a_rate_is_a_number_in_a_unit_of_time(text, rate):
    assert parse_rate(text) == pytest.approx(rate)


def test_an_option_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'prot'"):
        start(prot=8080)
    with start(updates=5) as sandbox, pytest.raises(TypeError, match="unexpected keyword argument 'updates'"):
        sandbox.replica(updates=10)
