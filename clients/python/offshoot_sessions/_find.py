"""Where the program is. Starts nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ._error import OffshootError

#: The program of this wheel.
OWN = Path(__file__).resolve().parent / "bin" / "offshoot"


def find_program(program: str | os.PathLike[str] | None = None) -> str:
    """The program that a client starts: `program`, that of `OFFSHOOT_BIN`, of the wheel, or of `PATH`."""
    if program is not None and os.sep in os.fspath(program):
        return existing(os.path.abspath(program), "")
    if program is None:
        named = os.environ.get("OFFSHOOT_BIN")
        if named:
            return existing(os.path.abspath(named), "OFFSHOOT_BIN names ")
        if OWN.exists():
            return existing(str(OWN), "")
    found = shutil.which(program or "offshoot")
    if found is None:
        why = "the program offshoot was not found: set OFFSHOOT_BIN" if program is None else f"{program} is not on PATH"
        raise OffshootError("startFailed", why)
    return found


def existing(file: str, before: str) -> str:
    """The file, if it can be executed."""
    if os.path.isfile(file) and os.access(file, os.X_OK):
        return file
    why = "cannot be executed" if os.path.exists(file) else "does not exist"
    raise OffshootError("startFailed", f"{before}{file}, which {why}")
