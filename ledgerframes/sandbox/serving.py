"""Runs an ASGI app on a loopback port in its own thread; the sandbox and the tests call it."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import importlib.util
import logging
import os
import socket
import threading
from collections import Counter
from concurrent.futures import Future
from email.utils import formatdate
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

from ledgerframes.sandbox.faults import App, FaultDraws, Faults, InjectedExchange, Receive, Scope, Send, answer

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.server import ServerState

HOST = "127.0.0.1"
_TURNS: Final = 8

logger = logging.getLogger("ledgerframes.sandbox")


def serve(app: App, *, port: int = 0, faults: Faults | None = None, latency: float = 0.0) -> Served:
    """Serve an ASGI app on 127.0.0.1 until it is stopped or the program ends; return once it accepts requests.

    It has its own thread and event loop, so it runs next to the loop of a notebook. The app's lifespan
    events are not sent.

    Args:
        app: any ASGI app that answers HTTP.
        port: 0 takes a free one.
        faults: the faults to inject; `served.faults = ...` changes them later.
        latency: seconds that every request waits before the app sees it.

    Raises:
        OSError: the port is not available.
    """
    served = Served(app, port=port, faults=faults, latency=latency)
    served.start()
    return served


class Served:
    """An app being served; a context manager that stops it.

    Attributes:
        url: such as `http://127.0.0.1:41234`, without a slash at the end.
        latency: seconds that every request waits before the app sees it; can be set at any time.
    """

    def __init__(self, app: App, *, port: int, faults: Faults | None, latency: float) -> None:
        listener = _listen(port)
        self.url = f"http://{HOST}:{listener.getsockname()[1]}"
        self.latency = latency
        self._app = app
        self._listener = listener
        self._lock = threading.Lock()
        self._arrived: Counter[str] = Counter()
        self._draws = FaultDraws(faults or Faults())
        self._state: ServerState | None = None
        self._ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # A daemon, so that a notebook that forgets to stop the sandbox can still end.
        self._thread = threading.Thread(target=self._run, name=f"serving {self.url}", daemon=True)

    @property
    def faults(self) -> Faults | None:
        """The faults being injected; set it to another value, or to None for no faults."""
        faults = self._draws.faults
        return None if faults == Faults() else faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._draws = FaultDraws(faults or Faults())

    @property
    def requests(self) -> Counter[str]:
        """The number of received requests by "METHOD /path", whatever their outcome."""
        with self._lock:
            return Counter(self._arrived)

    def start(self) -> None:
        """Start serving; `serve` has done this already."""
        self._thread.start()
        self._ready.result()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Close every connection and free the port; a second call does nothing."""
        atexit.unregister(self.stop)
        if not self._thread.is_alive():
            return
        loop, end = self._ready.result()
        with contextlib.suppress(RuntimeError):  # the loop was closed by another thread's stop
            loop.call_soon_threadsafe(end.set)
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Served {self.url}{'' if self._thread.is_alive() else ' (stopped)'}>"

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._serve())
        except BaseException as error:
            self._listener.close()
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _serve(self) -> None:
        # uvicorn.Server checks ten times per second whether to stop and then lingers; a test suite stops
        # hundreds of servers, so its protocols are used without it.
        from uvicorn.server import ServerState

        self._state, end = ServerState(), asyncio.Event()
        state, config = self._state, _config(self._answer)
        protocol: Any = config.http_protocol_class
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: protocol(config=config, server_state=state, app_state={}), sock=self._listener
        )
        self._ready.set_result((loop, end))
        await end.wait()
        # A closed server drops accepted sockets that have no connection yet: that takes some turns of the loop.
        loop.remove_reader(self._listener)
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        server.close()
        # Open connections would keep `wait_closed` waiting for as long as clients keep them alive.
        for connection in tuple(state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        for task in tuple(state.tasks):
            task.cancel()
        await server.wait_closed()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = f"{scope['method']} {scope['path']}"
        if self._state is not None:
            # As servers do: a current Date in every response.
            self._state.default_headers[:] = [(b"date", formatdate(usegmt=True).encode())]
        with self._lock:
            self._arrived[name] += 1
            draws = self._draws
        exchange = InjectedExchange(self._ask, scope, receive, send, self._transport(scope))
        if self.latency or draws.faults.latency:
            await asyncio.sleep(self.latency + draws.faults.latency)
        await answer(exchange, draws.draw(scope["path"]))

    def _transport(self, scope: Scope) -> asyncio.Transport | None:
        """The open connection that a request came by."""
        open_ones: Any = self._state.connections if self._state else ()
        return next((one.transport for one in open_ones if one.client == tuple(scope["client"])), None)

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.requests import ClientDisconnect

        try:
            await self._app(scope, receive, send)
        except ClientDisconnect:
            return  # the client is gone
        except Exception:
            logger.exception("the app failed on %s %s", scope["method"], scope["path"])
            raise


def _config(app: App) -> uvicorn.Config:
    import uvicorn

    # httptools is faster, but not installed everywhere.
    parser = "httptools" if importlib.util.find_spec("httptools") else "h11"
    config = uvicorn.Config(
        cast("Any", app),
        http=parser,
        ws="none",
        lifespan="off",
        interface="asgi3",
        proxy_headers=False,
        log_config=None,
        log_level="critical",
        access_log=False,
        # Longer than the 5 seconds for which the client keeps idle connections, which would be reset otherwise.
        timeout_keep_alive=60,
    )
    config.load()
    return config


def _listen(port: int) -> socket.socket:
    # asyncio turns Nagle's algorithm off only where the protocol number is stated; with it on, an answer
    # in two writes waits 40 ms for the other side's acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise OSError(
            error.errno, f"cannot serve on {HOST}:{port} ({error.strerror}); choose another port, or 0"
        ) from error
    return listener
