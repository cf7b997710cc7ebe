"""A client of `offshoot --mode rpc` in one file, without dependencies.

    with OffshootAgent(["offshoot", "--mode", "rpc"]) as agent:
        for event in agent.prompt("What is in notes.txt?"):
            ...

One thread reads all the time: a program that does not read falls behind.
"""

import itertools
import json
import queue
import subprocess
import threading


class RpcError(Exception):
    """A command was refused; nothing has changed."""


class OffshootAgent:
    def __init__(self, command, **popen):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **popen)
        self._ids = (f"c{number}" for number in itertools.count(1))
        self._responses = {}
        self._writing = threading.Lock()
        self.events = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the input, and with it the program; what was sent before is answered."""
        with self._writing:
            self._process.stdin.close()
        return self._process.wait()

    def ask(self, kind, **members):
        """Sends a command; returns the data of its response."""
        identity, answered = next(self._ids), queue.Queue()
        self._responses[identity] = answered
        self.send({"id": identity, "type": kind, **members})
        response = answered.get()
        if not response["success"]:
            raise RpcError(response["error"])
        return response.get("data")

    def prompt(self, message, **members):
        """Sends a prompt; yields its events until nothing goes on by itself."""
        self.ask("prompt", message=message, **members)
        while True:
            event = self.events.get()
            if event is None:
                raise RpcError("the program has ended")
            yield event
            if event["type"] == "agent_settled":
                return

    def send(self, record):
        line = json.dumps(record).encode() + b"\n"
        with self._writing:
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read(self):
        # Bytes are split at LF only, as the protocol wants.
        for line in self._process.stdout:
            record = json.loads(line)
            if record["type"] == "response":
                answered = self._responses.pop(record.get("id"), None)
                if answered:
                    answered.put(record)
            else:
                self.events.put(record)
        self.events.put(None)
        for answered in list(self._responses.values()):
            answered.put({"success": False, "error": "the program has ended"})
