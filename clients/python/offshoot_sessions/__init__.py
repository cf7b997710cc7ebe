"""The clients of offshoot: sessions (`offshoot api`) and the agent (`offshoot --mode rpc`)."""

from ._error import OffshootError
from ._find import find_program
from .agent import OffshootAgent
from .sessions import OffshootSessions, Session

__all__ = ["OffshootAgent", "OffshootError", "OffshootSessions", "Session", "find_program"]
