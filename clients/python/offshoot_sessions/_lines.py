"""Bytes to JSON objects, one a line. Lines end at LF only: U+2028 and CR are ordinary characters."""

from __future__ import annotations

import json
from typing import Any, Callable, NoReturn

from ._error import OffshootError

_SHOWN = 200


class LineCutter:
    """Cuts bytes into lines, and calls `take` with each."""

    def __init__(self, longest: int, take: Callable[[bytes], None]) -> None:
        self._longest = longest
        self._take = take
        self._parts: list[bytes] = []
        self._length = 0

    def push(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._keep(line)
            whole = b"".join(self._parts)
            self._parts, self._length = [], 0
            self._take(whole)
        if rest:
            self._keep(rest)

    def _keep(self, data: bytes) -> None:
        self._length += len(data)
        if self._length > self._longest:
            raise OffshootError("protocol", f"offshoot wrote a line of more than {self._longest} bytes")
        self._parts.append(data)


class Unreadable(Exception):
    """JSON that Python cannot read."""


def parse_object(line: bytes) -> dict[str, Any]:
    """The object that a line is."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise broken(line, "is not JSON") from error
    except (RecursionError, ValueError) as error:
        raise Unreadable(str(error)) from error
    if not isinstance(value, dict):
        raise broken(line, "is not an object")
    return value


def broken(line: bytes, why: str) -> OffshootError:
    """The error about a line that does not belong to the protocol."""
    shown = line[:_SHOWN].decode("utf-8", "replace") + ("…" if len(line) > _SHOWN else "")
    return OffshootError("protocol", f"offshoot wrote a line that {why}: {json.dumps(shown, ensure_ascii=False)}")


def line_of(record: dict[str, Any]) -> bytes:
    """The line of an object. ASCII escapes carry every Python string, half surrogates included; JSON has no NaN."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _no_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)
