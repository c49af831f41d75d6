"""One request out, one answer in: authentication, retries, rate, failover and errors; called by `interfaces`."""

from ledgerframes.config.settings import Interface
from ledgerframes.transport.classify import Answer
from ledgerframes.transport.request import DeprecatedEndpointWarning, Endpoint, Prepared, Request
from ledgerframes.transport.sender import Sender
from ledgerframes.transport.stats import Stats
from ledgerframes.transport.stopping import Clock, Stop, SystemClock
from ledgerframes.transport.transport import Transport

__all__ = [
    "Answer",
    "Clock",
    "DeprecatedEndpointWarning",
    "Endpoint",
    "Interface",
    "Prepared",
    "Request",
    "Sender",
    "Stats",
    "Stop",
    "SystemClock",
    "Transport",
]
