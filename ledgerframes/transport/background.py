"""Runs a call in a thread that no exit of the interpreter waits for; the wire and the readers of histories use it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_background(call: Callable[[], T], name: str) -> Future[T]:
    """Start a call; waiting for what it gives can be interrupted, whatever the call itself is held up by.

    The workers of a `ThreadPoolExecutor` are joined when the interpreter ends; this thread is a daemon.

    Args:
        call: what to run.
        name: the thread's name.
    """
    future: Future[T] = Future()
    threading.Thread(target=_run, args=(future, call), name=name, daemon=True).start()
    return future


def _run(future: Future[T], call: Callable[[], T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
        future.set_exception(error)
    finally:
        del future, call  # the traceback of what was raised holds this frame
