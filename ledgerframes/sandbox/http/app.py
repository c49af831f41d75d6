"""A simulated ledger's four interfaces as one ASGI app; the server serves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, Router

from ledgerframes.sandbox.commands.errors import LedgerError, UnreadableError
from ledgerframes.sandbox.http.callers import Access
from ledgerframes.sandbox.http.ledger import Ledger
from ledgerframes.sandbox.http.ledger_errors import refuse_json, refuse_text
from ledgerframes.sandbox.http.ledger_routes import LedgerRoutes
from ledgerframes.sandbox.http.merged_routes import joined
from ledgerframes.sandbox.http.package_routes import PackageRoutes
from ledgerframes.sandbox.http.registry import Registry
from ledgerframes.sandbox.http.releases import has_newest_members, served_routes
from ledgerframes.sandbox.http.responses import Limits, RefusalError, no_route, refuse
from ledgerframes.sandbox.http.scan import Scan
from ledgerframes.sandbox.http.scan_neighbours import neighbours
from ledgerframes.sandbox.http.scan_objects import ObjectRoutes
from ledgerframes.sandbox.http.validator import Validator
from ledgerframes.sandbox.world.templates import TOKEN_RULES
from ledgerframes.sandbox.world.views import ServerView

#: Where the registry of another issuer than the coin's is served.
ISSUER: Final = "/harbor"

_USUAL: Final = Limits()


def app_of(
    view: ServerView,
    access: Access,
    *,
    release: str,
    limits: Limits = _USUAL,
    objects: Callable[[ServerView], ObjectRoutes] = ObjectRoutes,
) -> Starlette:
    """The app of one server.

    Args:
        view: the part of the world that its scan shows.
        access: decides who may use validator and ledger.
        release: determines the routes and answers.
        limits: the maximum sizes of requests; before release 0.8 lists in requests had no limit.
        objects: the routes of the history in bulk.
    """
    world, newest = view.world, has_newest_members(release)
    limits = limits if newest else replace(limits, items=None)
    every: dict[str, list[BaseRoute]] = {
        "scan": [*Scan(view, limits).routes(), *objects(view).routes(), *neighbours(view, access, limits)],
        "validator": Validator(view, access, limits).routes(),
        "ledger": [*LedgerRoutes(Ledger(world, newest), access).routes(), *PackageRoutes(world, access).routes()],
        "registry": Registry(world).routes(),
    }
    prefixes = {interface: "" if interface == "registry" else f"/api/{interface}" for interface in every}
    served = {
        interface: served_routes(joined(routes), interface=interface, prefix=prefixes[interface], release=release)
        for interface, routes in every.items()
    }

    handlers = {
        RefusalError: refuse,
        LedgerError: refuse_json,
        UnreadableError: refuse_text,
        HTTPException: no_route,
    }
    mounts = [
        Mount(prefix, app=Router(served[interface], redirect_slashes=False))
        for interface, prefix in prefixes.items()
        if prefix
    ]
    mounts.append(Mount(ISSUER, app=Router(Registry(world, TOKEN_RULES.entity).metadata(), redirect_slashes=False)))
    app = Starlette(routes=[*mounts, *served["registry"]], exception_handlers=handlers)
    # A redirect would hide a client's wrong path, and the client follows none.
    app.router.redirect_slashes = False
    return app
