"""The earliest round with complete reward-accounting records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerframes.arguments import suggesting
from ledgerframes.errors import NotFoundError

if TYPE_CHECKING:
    from ledgerframes.network import Network


@suggesting
def earliest_reward_round(net: Network) -> int | None:
    """Read the earliest round for which reward-accounting activity records are complete, or None if there is none.

    Contract: GET /v0/internal/reward-accounting-process/rounds/earliest-available; older scans have it at another path.

    Args:
        net: the network; its scan is asked.

    Returns:
        The round's number.

    Raises:
        NotFoundError: the scan knows neither path.
        RequestError: the scan gave no answer.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.earliest_reward_round(net) is None
        True
    """
    try:
        return net.scan.earliest_available_round()
    except NotFoundError as error:
        # Only a 404 of a server that knows the path says that there is no such round.
        if error.unknown_route:
            raise
        return None
