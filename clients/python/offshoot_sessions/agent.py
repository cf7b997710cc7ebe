"""The agent through `offshoot --mode rpc`: commands, their responses, and events. Knows nothing of what events say."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from typing import Any, Callable, Iterator

from ._calls import Deadline, PendingCalls
from ._error import OffshootError
from ._lines import Unreadable, broken, parse_object
from ._program import Program

#: How many bytes of events may wait for a slow reader before the program has to wait.
_UNREAD_BYTES = 1 << 20
_ID = re.compile(rb'\{"id":"(c\d+)","type":"response",')


class OffshootAgent:
    """A running `offshoot --mode rpc`. Any number of threads may use it."""

    def __init__(
        self,
        program: str | os.PathLike[str] | None = None,
        args: list[str] | tuple[str, ...] = (),
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
        start_timeout: float = 30.0,
        close_grace: float = 5.0,
        on_stderr: Callable[[bytes], Any] | None = None,
    ) -> None:
        """Starts the program and waits until it answers. `args` are more arguments, such as `["--no-session"]`. Times are in
        seconds."""
        Deadline("", timeout)
        self._timeout = timeout
        self._calls = PendingCalls()
        self._sending = threading.Lock()
        self._last_id = 0
        self._changed = threading.Condition()
        self._readers: list[_Reader] = []
        self._program: Program | None = None
        self._program = Program(
            ["--mode", "rpc", *args], self, program=program, cwd=cwd, env=env, close_grace=close_grace, on_stderr=on_stderr
        )
        try:
            self.call("get_state", timeout=start_timeout)
        except OffshootError as error:
            raise self._program.fail_start(error) from error

    @property
    def pid(self) -> int:
        """The process of the program."""
        return self._running.pid

    def call(self, type: str, members: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Sends a command; the data of its response."""
        deadline = Deadline(type, self._timeout if timeout is None else timeout)
        with deadline.locked(self._sending):
            id = f"c{self._last_id + 1}"
            call = self._calls.add(id)
            self._last_id += 1
            try:
                self._running.send({**(members or {}), "id": id, "type": type}, deadline)
            except BaseException:
                self._calls.forget(id)
                raise
        self.flow()
        try:
            return call.result(deadline.left())
        except TimeoutError:
            raise deadline.error() from None
        finally:
            self._calls.forget(id)

    def send(self, record: dict[str, Any]) -> None:
        """Sends a record that has no response, such as the answer to a question: `{"type":"extension_ui_response", …}`."""
        self._running.send(record, Deadline(str(record.get("type")), self._timeout))

    def events(self) -> Iterator[dict[str, Any]]:
        """Every event from now on, until the program ends: then the error about its end, unless the client was closed."""
        reader = self._open_reader()

        def run() -> Iterator[dict[str, Any]]:
            try:
                while True:
                    yield self._next(reader)
            except OffshootError as error:
                if not (error.kind == "ended" and self._running._is_closing):
                    raise
            finally:
                self._close_reader(reader)

        return run()

    def prompt(
        self, message: str, members: dict[str, Any] | None = None, *, timeout: float | None = None
    ) -> Iterator[dict[str, Any]]:
        """Sends a prompt; its events until nothing goes on by itself. `timeout` is for its acceptance. Leaving the loop
        early does not stop the agent: `abort` does."""
        reader = self._open_reader()
        try:
            accepted = self.call("prompt", {**(members or {}), "message": message}, timeout=timeout)
            is_handled = isinstance(accepted, dict) and accepted.get("disposition") == "handled"
            while not (is_handled and not reader.events):
                event = self._next(reader)
                yield event
                if event["type"] == "agent_settled":
                    return
        finally:
            self._close_reader(reader)

    def close(self) -> int:
        """Ends the input, and with it the program; what was sent before is answered. Its exit code."""
        return self._running.close()

    def __enter__(self) -> OffshootAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _running(self) -> Program:
        assert self._program is not None
        return self._program

    def _open_reader(self) -> _Reader:
        reader = _Reader()
        with self._changed:
            self._readers.append(reader)
        return reader

    def _close_reader(self, reader: _Reader) -> None:
        with self._changed:
            if reader in self._readers:
                self._readers.remove(reader)
            self._changed.notify_all()

    def _next(self, reader: _Reader) -> dict[str, Any]:
        with self._changed:
            self._changed.wait_for(lambda: reader.events or reader.error is not None)
            if not reader.events:
                assert reader.error is not None
                raise reader.error.again()
            event, size = reader.events.popleft()
            reader.bytes -= size
            self._changed.notify_all()
            return event

    # What the program is used by.

    def take(self, line: bytes) -> None:
        try:
            record = parse_object(line)
        except Unreadable as error:
            found = _ID.match(line)
            if found is None:
                raise broken(line, "cannot be read") from error
            unreadable = OffshootError("unreadable", f"cannot read the answer: {error}")
            return self._calls.settle(found[1].decode(), error=unreadable)
        if not isinstance(record.get("type"), str):
            raise broken(line, "has no type")
        if record["type"] != "response":
            return self._tell(record, len(line))
        if record.get("command") == "parse":
            raise broken(line, "answers nothing that was asked")
        id = record.get("id")
        if not isinstance(id, str):
            return
        if record.get("success") is True:
            self._calls.settle(id, record.get("data"))
        else:
            self._calls.settle(id, error=OffshootError("refused", str(record.get("error")), data=record))

    def flow(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def ended(self, error: OffshootError) -> None:
        self._calls.reject_all(error)
        with self._changed:
            for reader in self._readers:
                reader.error = error
            self._changed.notify_all()

    def _tell(self, event: dict[str, Any], size: int) -> None:
        with self._changed:
            for reader in self._readers:
                reader.events.append((event, size))
                reader.bytes += size
            self._changed.notify_all()
            # Reads on while somebody waits for an answer; else only while events do not pile up.
            self._changed.wait_for(self._may_read)

    def _may_read(self) -> bool:
        is_behind = any(reader.bytes > _UNREAD_BYTES for reader in self._readers)
        return not is_behind or len(self._calls) > 0 or self._program is None or self._program.is_over


class _Reader:
    """Events that one loop has not read yet, and how it ends."""

    def __init__(self) -> None:
        self.events: deque[tuple[dict[str, Any], int]] = deque()
        self.bytes = 0
        self.error: OffshootError | None = None
