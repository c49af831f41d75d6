"""Runs a call in a daemon thread; `http` and the readers of histories use it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_background(call: Callable[[], T], name: str) -> Future[T]:
    """Start a call; waiting for its result can be interrupted, whatever blocks the call itself.

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
    except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
        future.set_exception(error)
    finally:
        del future, call  # the traceback of what was raised holds this frame
