"""A running program that reads and writes lines: its start, its pipes, its end. Knows no protocol.

Four threads belong to it: one for each pipe, and one that waits for its end. No call blocks on a pipe.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from typing import Any, Callable, Protocol

from ._calls import Deadline
from ._error import OffshootError
from ._find import find_program
from ._lines import LineCutter, line_of

#: What offshoot reads of one line.
LONGEST_REQUEST = 64 << 20
#: How many bytes may wait to be sent before calls wait for room.
_LONGEST_BACKLOG = 64 << 20
#: What is read of one line.
_LONGEST_LINE = 1 << 29
#: How much of standard error is kept.
_KEPT_STDERR = 8192
#: How long a pipe may stay open after the program's end, and the program after the end of a pipe, in seconds.
_DRAIN = 1.0
_CHUNK = 1 << 16


class Handlers(Protocol):
    """What the program is used by."""

    def take(self, line: bytes) -> None:
        """A line that it wrote. An error ends the client."""

    def flow(self) -> None:
        """Whatever holds the reading back must let go."""

    def ended(self, error: OffshootError) -> None:
        """The client has ended, for this reason. Comes once."""


class Program:
    def __init__(
        self,
        arguments: list[str],
        handlers: Handlers,
        *,
        program: str | os.PathLike[str] | None,
        cwd: str | os.PathLike[str] | None,
        env: dict[str, str] | None,
        close_grace: float,
        on_stderr: Callable[[bytes], Any] | None,
    ) -> None:
        self._file = find_program(program)
        if cwd is not None and not os.path.isdir(cwd):
            raise self._failure(f"the folder {os.fspath(cwd)} does not exist")
        self._handlers = handlers
        self._close_grace = close_grace
        self._on_stderr = on_stderr
        self._changed = threading.Condition()
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._is_closing = False
        self._has_exited = False
        self._end: OffshootError | None = None
        self._stderr = b""
        self._gone = threading.Event()
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                [self._file, *arguments], bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env
            )
        except OSError as error:
            raise self._failure(error.strerror or str(error)) from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._out, self._err = self._process.stdin, self._process.stdout, self._process.stderr
        self._readers = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_stderr)]
        for run in (self._write, self._watch):
            threading.Thread(target=run, daemon=True).start()
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_over(self) -> bool:
        """Nothing is held back any more."""
        return self._is_closing or self._has_exited or self._end is not None

    def send(self, record: dict[str, Any], deadline: Deadline) -> None:
        """Sends an object; waits for room. An error means that nothing was sent."""
        line = line_of(record)
        if len(line) > LONGEST_REQUEST:
            raise OffshootError("tooLong", f"the request has {len(line)} bytes; offshoot reads {LONGEST_REQUEST}")
        with self._changed:
            while True:
                if self._is_closing:
                    raise OffshootError("closed", "the client is closed")
                if self._end is not None:
                    raise self._end.again()
                if self._queued == 0 or self._queued + len(line) <= _LONGEST_BACKLOG:
                    break
                if not self._changed.wait(deadline.left()):
                    raise deadline.error()
            self._queue.append(line)
            self._queued += len(line)
            self._changed.notify_all()

    def fail(self, error: OffshootError) -> None:
        """Ends the client at once because of an error, and the program with it."""
        if self._finish(error):
            self._terminate()

    def fail_start(self, error: OffshootError) -> OffshootError:
        """Ends a program that did not answer at its start; the error about that."""
        failure = self._failure(str(error), exit_code=error.exit_code, stderr=error.stderr)
        self.fail(failure)
        return failure

    def close(self) -> int:
        """Ends the input; the program answers what it has read. It is killed if it does not end. Its exit code."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._handlers.flow()
        if not self._gone.wait(self._close_grace):
            self._terminate()
        self._gone.wait()
        return self._process.returncode

    def _read(self) -> None:
        cutter = LineCutter(_LONGEST_LINE, self._handlers.take)
        while data := _read_some(self._out):
            if self._end is not None:
                continue
            try:
                cutter.push(data)
            except OffshootError as error:
                self.fail(error)
            except Exception as error:  # the thread must not end in silence
                self.fail(OffshootError("protocol", f"could not read what offshoot wrote: {error!r}"))
        self._must_end("closed its output")

    def _read_stderr(self) -> None:
        while data := _read_some(self._err):
            self._stderr = (self._stderr + data)[-_KEPT_STDERR:]
            if self._on_stderr is None:
                continue
            try:
                self._on_stderr(data)
            except Exception as error:
                # The caller's fault: it does not end the reading.
                self._on_stderr = None
                here = threading.current_thread()
                threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, here)))

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._is_closing or self._end is not None)
                if self._end is not None or not self._queue:
                    break
                line = self._queue.popleft()
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._stdin.write(rest) or 0 :]
            except OSError:
                self._must_end("closed its input")
                break
            with self._changed:
                self._queued -= len(line)
                self._changed.notify_all()
        _close(self._stdin)

    def _watch(self) -> None:
        self._process.wait()
        self._has_exited = True
        self._handlers.flow()
        # Another process may have inherited the pipes: they need not end with the program.
        for reader in self._readers:
            reader.join(_DRAIN)
        for reader, pipe in zip(self._readers, (self._out, self._err)):
            if not reader.is_alive():
                _close(pipe)
        self._finish(self._ended())
        self._gone.set()

    def _must_end(self, why: str) -> None:
        """A program without one of its pipes cannot answer: it ends soon, or is ended."""

        def check() -> None:
            if not (self._gone.wait(_DRAIN) or self._has_exited or self._is_closing):
                self.fail(OffshootError("protocol", f"offshoot {why} but did not end"))

        if not self.is_over:
            threading.Thread(target=check, daemon=True).start()

    def _terminate(self) -> None:
        self._handlers.flow()
        self._signal(signal.SIGTERM)

        def kill() -> None:
            if not self._gone.wait(self._close_grace):
                self._signal(signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()

    def _signal(self, number: int) -> None:
        try:
            self._process.send_signal(number)
        except ProcessLookupError:
            pass

    def _finish(self, error: OffshootError) -> bool:
        with self._changed:
            if self._end is not None:
                return False
            self._end = error
            self._queue.clear()
            self._changed.notify_all()
        self._handlers.ended(error)
        return True

    def _ended(self) -> OffshootError:
        code, stderr = self._process.returncode, self._stderr.decode("utf-8", "replace")
        how = f"with exit code {code}" if code >= 0 else f"by {_signal_name(-code)}"
        said = f": {stderr.strip()}" if stderr.strip() else ""
        return OffshootError("ended", f"offshoot ended {how}{said}", exit_code=code, stderr=stderr)

    def _failure(self, why: str, **more: Any) -> OffshootError:
        return OffshootError("startFailed", f"cannot start {self._file}: {why}", **more)


def _read_some(pipe: Any) -> bytes:
    """Bytes that are there, or nothing at the end."""
    try:
        return pipe.read(_CHUNK)
    except (OSError, ValueError):
        return b""


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        pass


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
