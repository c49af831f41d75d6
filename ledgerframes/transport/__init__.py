"""One request out, one answer in: authentication, retries, rate, failover and errors; called by `interfaces`."""

from ledgerframes.stopping import Clock, Stop, SystemClock
from ledgerframes.transport.request import Answer, Endpoint, Prepared, Request
from ledgerframes.transport.sending import Sender
from ledgerframes.transport.transport import Stats, Transport

__all__ = [
    "Answer",
    "Clock",
    "Endpoint",
    "Prepared",
    "Request",
    "Sender",
    "Stats",
    "Stop",
    "SystemClock",
    "Transport",
]
