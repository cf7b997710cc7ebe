"""Calls that wait for their answers, by id. Each is settled once: by its answer, its time-out or the end of the program."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import Any, Iterator

from ._error import OffshootError


class PendingCall:
    """One call. Its thread waits; another one settles it."""

    def __init__(self) -> None:
        self._settled = threading.Event()
        self._value: Any = None
        self._error: OffshootError | None = None

    def settle(self, value: Any, error: OffshootError | None) -> None:
        self._value, self._error = value, error
        self._settled.set()

    def result(self, timeout: float | None) -> Any:
        """The answer; `TimeoutError` without one."""
        if not self._settled.wait(timeout):
            raise TimeoutError
        if self._error is not None:
            raise self._error.again()
        return self._value


class PendingCalls:
    """The calls that wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Any, PendingCall] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, id: Any) -> PendingCall:
        call = PendingCall()
        with self._lock:
            self._waiting[id] = call
        return call

    def settle(self, id: Any, value: Any = None, error: OffshootError | None = None) -> None:
        """Answers a call. The answer to a call that waits no longer is dropped."""
        call = self.forget(id)
        if call is not None:
            call.settle(value, error)

    def forget(self, id: Any) -> PendingCall | None:
        with self._lock:
            return self._waiting.pop(id, None)

    def reject_all(self, error: OffshootError) -> None:
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
        for call in waiting:
            call.settle(None, error)


class Deadline:
    """When a call stops to wait; never without a time-out, which is in seconds."""

    def __init__(self, name: str, timeout: float | None) -> None:
        if timeout is not None and not timeout > 0:
            raise ValueError("a time-out is a number of seconds above 0")
        self._name = name
        self._timeout = None if timeout is None else min(timeout, threading.TIMEOUT_MAX)
        self._end = None if self._timeout is None else time.monotonic() + self._timeout

    def left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @contextmanager
    def locked(self, lock: threading.Lock) -> Iterator[None]:
        """Holds a lock, and waits for it no longer than this."""
        left = self.left()
        if not lock.acquire(timeout=-1 if left is None else left):
            raise self.error()
        try:
            yield
        finally:
            lock.release()

    def error(self) -> OffshootError:
        return OffshootError("timeout", f"no answer to {self._name} within {self._timeout} s")
