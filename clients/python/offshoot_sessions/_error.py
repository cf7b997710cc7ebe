"""The one error of the clients. Knows nothing of processes and protocols."""

from __future__ import annotations

from typing import Any


class OffshootError(Exception):
    """Why a call has no answer. `kind` is for programs, the text for people.

    Kinds of the client: `startFailed`, `ended` (the program has ended), `closed` (the client was closed), `timeout`,
    `protocol` (the program wrote something else than its protocol), `tooLong`, `unreadable` (Python cannot read this
    answer, for example because it is nested too deep), `refused` (a command of the agent). Kinds of the program are those
    of docs/api.md, or `request` if the request is wrong.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        code: int | None = None,
        data: dict[str, Any] | None = None,
        exit_code: int | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        #: The number of a JSON-RPC error, and its data.
        self.code = code
        self.data = data or {}
        #: How the program ended (-9 is SIGKILL), and the end of what it wrote to standard error.
        self.exit_code = exit_code
        self.stderr = stderr

    def again(self) -> OffshootError:
        """The same error for another waiting thread: a raised error has a traceback of its own."""
        return OffshootError(
            self.kind, str(self), code=self.code, data=self.data, exit_code=self.exit_code, stderr=self.stderr
        )
