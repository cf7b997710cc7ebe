"""Sessions through `offshoot api`: JSON-RPC over the pipes of one process. Knows nothing of what sessions contain."""

from __future__ import annotations

import os
import re
import threading
from typing import Any, Callable

from ._calls import Deadline, PendingCalls
from ._error import OffshootError
from ._lines import Unreadable, broken, parse_object
from ._program import Program

#: Methods that answer with an open session.
_OPENING = {"create", "open", "continueRecent", "inMemory", "forkFrom", "newSession"}
_ID = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+),')


class OffshootSessions:
    """A running `offshoot api`. Every method of docs/api.md is a method here, with arguments by name or in the order given
    there; `timeout` is the time-out of one call. Any number of threads may use it."""

    def __init__(
        self,
        program: str | os.PathLike[str] | None = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
        start_timeout: float = 30.0,
        close_grace: float = 5.0,
        on_stderr: Callable[[bytes], Any] | None = None,
    ) -> None:
        """Starts the program and waits until it answers. Times are in seconds."""
        Deadline("", timeout)
        self._timeout = timeout
        self._calls = PendingCalls()
        self._sending = threading.Lock()
        self._last_id = 0
        self._params: dict[str, list[str]] = {}
        self._program = Program(
            ["api"], self, program=program, cwd=cwd, env=env, close_grace=close_grace, on_stderr=on_stderr
        )
        try:
            found = self.call("rpc.discover", timeout=start_timeout)
        except OffshootError as error:
            raise self._program.fail_start(error) from error
        self._params = {method["name"]: [param["name"] for param in method["params"]] for method in found["methods"]}

    @property
    def pid(self) -> int:
        """The process of the program."""
        return self._program.pid

    def call(self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Carries out one method; the answer is as it came."""
        deadline = Deadline(method, self._timeout if timeout is None else timeout)
        with deadline.locked(self._sending):
            id = self._last_id + 1
            call = self._calls.add(id)
            self._last_id = id
            try:
                self._program.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}, deadline)
            except BaseException:
                self._calls.forget(id)
                raise
        try:
            return call.result(deadline.left())
        except TimeoutError:
            raise deadline.error() from None
        finally:
            self._calls.forget(id)

    def close(self) -> int:
        """Ends the program after it has answered what it was asked; its exit code. What was answered is on disk already."""
        return self._program.close()

    def __enter__(self) -> OffshootSessions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_") or method not in self._params:
            raise AttributeError(f"offshoot has no method {method}")

        def run(*given: Any, timeout: float | None = None, **named: Any) -> Any:
            result = self.call(method, self._named(method, given, named), timeout=timeout)
            return Session(self, result) if method in _OPENING else result

        return run

    def _named(self, method: str, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name, from those that were given in order and by name."""
        names = [name for name in self._params[method] if name not in named]
        if len(given) > len(names):
            raise TypeError(f"{method} takes {', '.join(self._params[method])}")
        return {**named, **dict(zip(names, given))}

    # What the program is used by.

    def take(self, line: bytes) -> None:
        try:
            answer = parse_object(line)
        except Unreadable as error:
            found = _ID.match(line)
            if found is None:
                raise broken(line, "cannot be read") from error
            return self._calls.settle(int(found[1]), error=OffshootError("unreadable", f"cannot read the answer: {error}"))
        id = answer.get("id")
        if type(id) is not int or not 1 <= id <= self._last_id:
            raise broken(line, "answers nothing that was asked")
        if "result" in answer:
            return self._calls.settle(id, answer["result"])
        error = answer.get("error")
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            raise broken(line, "is no answer")
        data = error.get("data") or {}
        kind = data.get("kind", "request")
        self._calls.settle(id, error=OffshootError(kind, error["message"], code=error.get("code"), data=data))

    def flow(self) -> None:
        pass

    def ended(self, error: OffshootError) -> None:
        self._calls.reject_all(error)


class Session:
    """An open session: `number`, `sessionId`, `sessionFile`, and the methods that take `session`, without that."""

    number: int
    sessionId: str
    sessionFile: str | None

    def __init__(self, sessions: OffshootSessions, opened: dict[str, Any]) -> None:
        self._sessions = sessions
        self._become(opened)

    def call(self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Carries out one method on this session; the answer is as it came."""
        return self._sessions.call(method, {**(params or {}), "session": self.number}, timeout=timeout)

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_") or "session" not in self._sessions._params.get(method, ()):
            raise AttributeError(f"sessions have no method {method}")

        def run(*given: Any, timeout: float | None = None, **named: Any) -> Any:
            named["session"] = self.number
            result = self._sessions.call(method, self._sessions._named(method, given, named), timeout=timeout)
            # Two methods put another session behind the same number.
            if method in _OPENING:
                self._become(result)
                return self
            if method == "createBranchedSession":
                self._become({"session": self.number, "sessionId": self.call("getSessionId"), "sessionFile": result})
            return result

        return run

    def _become(self, opened: dict[str, Any]) -> None:
        self.number = opened["session"]
        self.sessionId = opened["sessionId"]
        self.sessionFile = opened["sessionFile"]
