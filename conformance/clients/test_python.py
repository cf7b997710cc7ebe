"""The client for Python: no wrong answer and no hang, whatever the program does. `clients.test.mjs` runs this.

    OFFSHOOT_BIN=… python3 -m unittest conformance/clients/test_python.py
"""

import faulthandler
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "clients" / "python"
sys.path.insert(0, str(SOURCE))

from offshoot_sessions import OffshootAgent, OffshootError, OffshootSessions, find_program  # noqa: E402

PROGRAM = os.path.abspath(os.environ["OFFSHOOT_BIN"])
NODE = os.environ.get("NODE") or shutil.which("node")
FOLDER = tempfile.TemporaryDirectory(prefix="offshoot-clients-")
ENV = {"PATH": os.environ["PATH"], "HOME": FOLDER.name, "OFFSHOOT_HOME": os.path.join(FOLDER.name, "data")}
CLIENTS = (OffshootSessions, OffshootAgent)
BIG = "ä\u2028\r" * 2_000_000 + "\ud83d"


def script(name, text):
    """A script of the shell as a program."""
    file = os.path.join(FOLDER.name, name)
    with open(file, "w") as out:
        out.write(f"#!/bin/sh\n{text}\n")
    os.chmod(file, 0o755)
    return file


def start(client, habit, **more):
    """A client of a program with a bad habit."""
    words = " ".join(map(shlex.quote, [NODE, str(HERE / "fake.mjs"), habit]))
    return client(script(f"fake-{habit}", f'exec {words} "$@"'), **{"env": ENV, **more})


def echoed(client, answer):
    return answer["at"] if isinstance(client, OffshootSessions) else answer["members"]["at"]


def user(text):
    return {"role": "user", "content": text, "timestamp": 1}


class Background(threading.Thread):
    """A call in another thread; `error` is how it failed."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_it, self.error, self.value = run, None, None
        self.start()

    def run(self):
        try:
            self.value = self.run_it()
        except BaseException as error:
            self.error = error


class ClientTests(unittest.TestCase):
    def setUp(self):
        # A hang is a failure.
        faulthandler.dump_traceback_later(120, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)

    def fails(self, kind, pattern, run):
        with self.assertRaisesRegex(OffshootError, pattern) as caught:
            run()
        self.assertEqual(caught.exception.kind, kind, caught.exception)
        return caught.exception

    def both(self):
        for client in CLIENTS:
            with self.subTest(client=client.__name__):
                yield client

    def test_four_threads_of_200_rounds_each_get_their_own_answers(self):
        with OffshootSessions(PROGRAM, env=ENV) as offshoot:

            def rounds(name):
                session = offshoot.inMemory(cwd="/")
                for number in range(200):
                    text = f"{name} {number}"
                    id = session.appendMessage(user(text))["id"]
                    entry, leaf = session.getEntry(id), session.getLeafId()
                    assert (entry["id"], leaf, entry["message"]["content"]) == (id, id, text), (entry, leaf, text)
                return 200

            threads = [Background(lambda name=name: rounds(name)) for name in "abcd"]
            for thread in threads:
                thread.join()
            self.assertEqual([(thread.value, thread.error) for thread in threads], [(200, None)] * 4)

    def test_late_answers_are_dropped(self):
        for client in self.both():
            with start(client, "none") as it:
                for number in range(200):
                    self.fails("timeout", "no answer to hold within 0.001 s", lambda: it.call("hold", timeout=0.001))
                    # The fake answers the held one first.
                    self.assertEqual(echoed(it, it.call("echo", {"at": number})), number)

    def test_late_answers_are_dropped_with_four_threads(self):
        for client in self.both():
            with start(client, "none") as it:

                def rounds(name):
                    for number in range(200):
                        try:
                            it.call("hold", timeout=0.001)
                        except OffshootError as error:
                            assert error.kind == "timeout", error
                        at = f"{name} {number}"
                        assert echoed(it, it.call("echo", {"at": at})) == at
                    return 200

                threads = [Background(lambda name=name: rounds(name)) for name in "abcd"]
                for thread in threads:
                    thread.join()
                self.assertEqual([(thread.value, thread.error) for thread in threads], [(200, None)] * 4)

    def test_a_time_out_of_the_client_holds_for_each_call(self):
        for client in self.both():
            with start(client, "none", timeout=0.001, start_timeout=60) as it:
                self.fails("timeout", "within 0.001 s", lambda: it.call("hold"))
                self.assertRaises(ValueError, lambda: it.call("echo", timeout=0))

    def test_the_end_of_the_program_rejects_what_waits_and_what_is_asked_later(self):
        for client in self.both():
            for habit, pattern, code in (("kill", "by SIGKILL", -9), ("exit", "exit code 3", 3), ("half", "exit code 0", 0)):
                it = start(client, habit)
                waiting = [Background(lambda: it.call("hold")) for _ in range(4)]
                self.fails("ended", pattern, lambda: it.call("habit"))
                for thread in waiting:
                    thread.join()
                    self.assertEqual(thread.error.kind, "ended")
                error = self.fails("ended", pattern, lambda: it.call("echo"))
                self.assertEqual((error.exit_code, it.close()), (code, code))

    def test_kill_9_of_the_program_while_it_works(self):
        offshoot = OffshootSessions(PROGRAM, env=ENV)

        def append():
            session = offshoot.inMemory(cwd="/")
            while True:
                session.appendMessage(user("x" * 10_000))

        threads = [Background(append) for _ in range(4)]
        offshoot.inMemory(cwd="/").getLeafId()
        os.kill(offshoot.pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
            self.assertEqual(thread.error.kind, "ended")
        self.fails("ended", "SIGKILL", lambda: offshoot.list())
        self.assertEqual(offshoot.close(), -9)

    def test_the_end_is_seen_although_another_process_keeps_the_pipes(self):
        for client in self.both():
            heir = os.path.join(FOLDER.name, "heir")
            it = start(client, "heir", env={**ENV, "HEIR": heir})
            self.fails("ended", "exit code 4", lambda: it.call("habit"))
            os.kill(int(Path(heir).read_text()), signal.SIGKILL)

    def test_a_program_that_cannot_be_started_is_an_error_that_says_why(self):
        text = os.path.join(FOLDER.name, "text")
        Path(text).write_text("no program\n")
        nowhere = os.path.join(FOLDER.name, "nowhere")
        for client in self.both():
            self.fails("startFailed", "nowhere, which does not exist", lambda: client(nowhere))
            self.fails("startFailed", "text, which cannot be executed", lambda: client(text))
            self.fails("startFailed", "is not on PATH", lambda: client("offshoot-that-is-not-there"))
            self.fails("startFailed", "the folder .*nowhere does not exist", lambda: client(PROGRAM, cwd=nowhere))
            self.fails("startFailed", "exit code 2: error: the settings are broken$", lambda: start(client, "start-exit-unasked"))
            self.fails("startFailed", "exit code 3", lambda: start(client, "start-exit"))
            self.fails("startFailed", 'not JSON: "Segmentation fault', lambda: start(client, "start-garbage"))
            self.fails("startFailed", "within 0.05 s", lambda: start(client, "start-silent", start_timeout=0.05))

    def test_what_is_not_the_protocol_ends_the_client(self):
        for client in self.both():
            for habit in ("garbage", "list", "number", "latin1", "stranger", "nobody", "mirror"):
                with start(client, habit) as it:
                    waiting = Background(lambda: it.call("hold"))
                    self.fails("protocol", "offshoot wrote a line that", lambda: it.call("habit"))
                    waiting.join()
                    self.assertEqual(waiting.error.kind, "protocol")
                    self.fails("protocol", "", lambda: it.call("echo"))

    def test_a_program_that_closes_a_pipe_and_lives_on_is_ended(self):
        for client in self.both():
            with start(client, "mute") as it:
                self.fails("protocol", "closed its output but did not end", lambda: it.call("habit"))
            with start(client, "deaf") as it:
                self.assertEqual(it.call("habit"), "the last one")
                self.fails("protocol", "closed its input but did not end", lambda: it.call("hold"))

    def test_an_answer_of_10_mb_arrives_whole(self):
        for client in self.both():
            with start(client, "big") as it:
                threads = [Background(lambda: it.call("habit")) for _ in range(2)]
                for thread in threads:
                    thread.join()
                    self.assertTrue(thread.value == BIG, thread.error)

    def test_what_goes_in_comes_out(self):
        with OffshootSessions(PROGRAM, env=ENV) as offshoot:
            session = offshoot.inMemory(cwd="/")
            for text in ("\ud83d", "a\u2028b\r\0", "ü" * 5_000_000):
                id = session.appendMessage(message=user(text))["id"]
                self.assertTrue(session.getEntry(id=id)["message"]["content"] == text)

    def test_an_answer_that_is_too_deep_fails_its_call_alone(self):
        with OffshootSessions(PROGRAM, env=ENV) as offshoot:
            session = offshoot.inMemory(cwd="/")
            for _ in range(1500):
                session.appendCustomEntry("deep")
            self.fails("unreadable", "recursion", session.getTree)
            self.assertEqual(session.getEntryCount(), 1500)

    def test_standard_error_is_read(self):
        for client in self.both():
            sizes = []
            with start(client, "flood", on_stderr=lambda data: sizes.append(len(data))) as it:
                self.assertEqual([it.call("habit"), it.call("habit")], ["after the flood"] * 2)
            self.assertGreaterEqual(sum(sizes), 64 << 20)

    def test_close_answers_what_was_asked_before_and_refuses_what_is_asked_after(self):
        for client in self.both():
            it = start(client, "silent")
            threads = [Background(lambda: it.call("hold")) for _ in range(3)]
            self.fails("timeout", "", lambda: it.call("habit", timeout=0.05))
            self.assertEqual(it.close(), 0)
            for thread in threads:
                thread.join()
                self.assertIn(thread.error.kind, ("ended", "closed"))
            self.fails("closed", "the client is closed", lambda: it.call("echo"))
            self.assertEqual(it.close(), 0)

    def test_a_program_that_does_not_end_is_killed_after_the_grace_time(self):
        for client in self.both():
            it = start(client, "stubborn", close_grace=0.05)
            pid = it.call("habit")
            waiting = Background(lambda: it.call("hold"))
            self.assertEqual(it.close(), -9)
            waiting.join()
            self.assertIn(waiting.error.kind, ("ended", "closed"))
            self.assertRaises(ProcessLookupError, lambda: os.kill(pid, 0))

    def test_requests_that_nobody_reads_wait_for_room_and_not_longer_than_their_time_out(self):
        for client in self.both():
            it = start(client, "busy", close_grace=0.05)
            self.fails("timeout", "", lambda: it.call("habit", timeout=0.05))
            text = "x" * (40 << 20)
            threads = [Background(lambda: it.call("echo", {"text": text})) for _ in range(3)]
            while not it._program._queued:
                time.sleep(0.01)
            self.fails("timeout", "", lambda: it.call("echo", {"text": text}, timeout=2))
            it.close()
            for thread in threads:
                thread.join()
            # One was on its way; the others had not been taken.
            self.assertEqual(sorted(thread.error.kind for thread in threads), ["closed", "closed", "ended"])

    def test_a_request_that_offshoot_would_not_read_is_refused(self):
        for client in self.both():
            with start(client, "none") as it:
                self.fails("tooLong", "", lambda: it.call("echo", {"text": "x" * (64 << 20)}))
                self.assertRaises(ValueError, lambda: it.call("echo", {"at": float("nan")}))
                self.assertEqual(echoed(it, it.call("echo", {"at": 5})), 5)

    def test_a_slow_reader_gets_all_events_and_its_calls_are_answered(self):
        with start(OffshootAgent, "events") as agent:
            seen = 0
            for event in agent.prompt("go"):
                if event["type"] != "tick":
                    continue
                self.assertEqual(event["at"], seen)
                seen += 1
                if seen % 500 == 0:
                    self.assertEqual(agent.call("echo", {"at": seen})["members"]["at"], seen)
                if seen == 1:
                    before = -1
                    while before != agent._readers[0].bytes:
                        before = agent._readers[0].bytes
                        time.sleep(0.1)
                    self.assertLess(before, 2 << 20)
            self.assertEqual(seen, 4000)

    def test_the_end_of_the_program_ends_a_loop_over_events(self):
        with start(OffshootAgent, "kill") as agent:
            self.fails("ended", "SIGKILL", lambda: list(agent.prompt("go")))
            self.fails("ended", "SIGKILL", lambda: list(agent.prompt("go")))

    def test_events_of_a_closed_client_end_quietly(self):
        agent = start(OffshootAgent, "none")
        events = Background(lambda: list(agent.events()))
        agent.close()
        events.join()
        self.assertIsNone(events.error)


class ProgramTests(unittest.TestCase):
    """Where the program is, and the command of the wheel."""

    def installed(self, name, binary=None):
        place = os.path.join(FOLDER.name, name)
        shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("__pycache__"))
        if binary is not None:
            os.mkdir(os.path.join(place, "offshoot_sessions", "bin"))
            os.symlink(binary, os.path.join(place, "offshoot_sessions", "bin", "offshoot"))
        return place

    def python(self, place, code, *args, **env):
        command = [sys.executable, "-c", code, *args]
        return subprocess.run(command, env={**ENV, "PYTHONPATH": place, **env}, input="in", capture_output=True, text=True)

    def test_the_command_passes_arguments_pipes_exit_codes_and_signals(self):
        main = "from offshoot_sessions._launcher import main; main()"
        echo = script("echo.sh", 'for word; do echo "<$word>"; done; cat; exit 7')
        ran = self.python(self.installed("echo", echo), main, "-p", "two words", "")
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), ("<-p>\n<two words>\n<>\nin", "", 7))
        ran = self.python(self.installed("killed", script("killed.sh", "kill -TERM $$")), main)
        self.assertEqual(ran.returncode, -signal.SIGTERM)
        self.assertRegex(self.python(self.installed("real", PROGRAM), main, "--version").stdout, r"^offshoot \d")
        ran = self.python(self.installed("bare"), main)
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stderr, "^offshoot: the wheel has no program: .*/bin/offshoot, which does not exist\n$")

    def test_the_program_is_an_explicit_path_the_variable_the_wheel_or_on_path(self):
        echo = script("other.sh", "")
        full, bare = self.installed("full", echo), self.installed("empty")
        folder = os.path.join(FOLDER.name, "on-path")
        os.mkdir(folder)
        os.symlink(echo, os.path.join(folder, "offshoot"))
        code = "import sys, offshoot_sessions; print(offshoot_sessions.find_program(*sys.argv[1:]))"
        found = lambda *given, **env: self.python(*given[:1], code, *given[1:], **env).stdout.strip()
        self.assertEqual(found(full, PROGRAM, OFFSHOOT_BIN=echo), PROGRAM)
        self.assertEqual(found(full, OFFSHOOT_BIN=PROGRAM), PROGRAM)
        self.assertEqual(found(full), os.path.join(full, "offshoot_sessions", "bin", "offshoot"))
        self.assertEqual(found(bare, PATH=folder), os.path.join(folder, "offshoot"))
        self.assertIn("was not found", self.python(bare, code, PATH=FOLDER.name).stderr)
        self.assertEqual(find_program(PROGRAM), PROGRAM)


if __name__ == "__main__":
    unittest.main()
