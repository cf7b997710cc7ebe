"""Sessions of terminal coding agents from Python, through `offshoot api`. Needs nothing but the standard library.

    with Offshoot() as offshoot:
        session = offshoot.create(cwd="/home/ada/engine")
        id = session.appendMessage({"role": "user", "content": "hello", "timestamp": 1})["id"]
        session.branch(id)

Methods are those of docs/api.md, with arguments by name or in the order given there. Answers are plain values; answers
that open a session are `Session` objects, whose methods need no `session` argument. Errors are `OffshootError`.
Knows nothing of what sessions hold, and no method by name.
"""

import json
import subprocess


class OffshootError(Exception):
    """An error that offshoot answered: `code`, and `kind` for what a program may want to tell apart."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data") or {}
        self.kind = self.data.get("kind")


class Offshoot:
    """A running `offshoot api`."""

    def __init__(self, command=("offshoot", "api")):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._last_id = 0
        found = self.call("rpc.discover", {})
        self._params = {method["name"]: [param["name"] for param in method["params"]] for method in found["methods"]}

    def call(self, method, params):
        """Carries out one method; `params` is a dictionary."""
        self._last_id += 1
        request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        # ASCII escapes carry every Python string, half surrogate pairs included. JSON has no NaN and no infinity.
        line = json.dumps(request, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        self._process.stdin.write(line.encode("ascii") + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()  # of bytes: ends at LF only
        if not answer.endswith(b"\n"):
            raise ConnectionError(f"offshoot ended (exit code {self._process.wait()})")
        answer = json.loads(answer)
        if "error" in answer:
            raise OffshootError(answer["error"])
        return answer["result"]

    def _named(self, method, given, named):
        """Arguments by name, from those that were given in order and by name."""
        if method not in self._params:
            raise AttributeError(f"offshoot has no method {method}")
        names = [name for name in self._params[method] if name not in named]
        if len(given) > len(names):
            raise TypeError(f"{method} takes {', '.join(self._params[method])}")
        return {**named, **dict(zip(names, given))}

    def __getattr__(self, method):
        if method.startswith("_"):
            raise AttributeError(method)

        def run(*given, **named):
            result = self.call(method, self._named(method, given, named))
            is_session = isinstance(result, dict) and "session" in result
            return Session(self, result) if is_session else result

        return run

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the program. All that was answered is on disk already."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Session:
    """An open session: `number`, `sessionId`, `sessionFile`, and the methods that take `session`."""

    def __init__(self, offshoot, opened):
        self._offshoot = offshoot
        self._take(opened)

    def _take(self, opened):
        self.number = opened["session"]
        self.sessionId = opened["sessionId"]
        self.sessionFile = opened["sessionFile"]

    def __getattr__(self, method):
        if method.startswith("_"):
            raise AttributeError(method)

        def run(*given, **named):
            named["session"] = self.number
            result = self._offshoot.call(method, self._offshoot._named(method, given, named))
            if isinstance(result, dict) and "sessionId" in result:  # newSession
                self._take(result)
                return self
            return result

        return run
