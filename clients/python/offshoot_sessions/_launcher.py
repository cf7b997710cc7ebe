"""The command `offshoot` of the wheel: runs the program of the wheel in place of this process."""

from __future__ import annotations

import os
import signal
import sys

from ._error import OffshootError
from ._find import OWN, existing


def main() -> None:
    try:
        program = existing(str(OWN), "the wheel has no program: ")
    except OffshootError as error:
        sys.exit(f"offshoot: {error}")
    # Python ignores these, and a program inherits that.
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"offshoot: cannot run {program}: {error.strerror}")
