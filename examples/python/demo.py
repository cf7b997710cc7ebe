"""Grows a small session through `offshoot api`, shows it, and checks what it shows.

    python3 demo.py [PATH-OF-OFFSHOOT]
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "clients" / "python"))

from offshoot_sessions import OffshootError, OffshootSessions  # noqa: E402


def user(text):
    return {"role": "user", "content": text, "timestamp": 1}


def assistant(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "provider": "p", "model": "m", "timestamp": 2}


def text_of(message):
    content = message["content"]
    return content if isinstance(content, str) else " ".join(block.get("text", "") for block in content)


def print_tree(nodes, indent=""):
    for node in nodes:
        entry = node["entry"]
        text = text_of(entry["message"]) if entry["type"] == "message" else entry.get("summary", "")
        label = f" [{node['label']}]" if "label" in node else ""
        print(f"{indent}{entry['id']} {entry['type']}{label} {text}".rstrip())
        print_tree(node["children"], indent + "  ")


def main(program, folder):
    with OffshootSessions(program) as offshoot:
        session = offshoot.create(cwd=folder, sessionDir=folder)
        question = session.appendMessage(user("Why is the build slow?"))["id"]
        first = session.appendMessage(assistant("The linker."))["id"]
        session.appendLabelChange(question, "the question")

        # Go back and try something else; the first answer stays where it is.
        session.branchWithSummary(question, "The linker was not it.", fromHook=False)
        session.appendMessage(assistant("The tests."))

        print_tree(session.getTree())
        context = session.buildSessionContext()
        print("the model sees:", [message["role"] for message in context["messages"]])

        assert [text_of(message) for message in context["messages"] if "content" in message] == [
            "Why is the build slow?",
            "The tests.",
        ]
        assert [entry["type"] for entry in session.getChildren(question)] == ["message", "branch_summary"]
        assert session.getEntry(first)["message"] == assistant("The linker.")
        assert session.getLabel(question) == "the question"

        # Look at what a pick would bring, bring it, and take that back.
        plan = session.planPick([f"..{first}"])
        print("would copy:", [copy["entryId"] == first for copy in plan["copies"]], "below", plan["ontoId"] == session.getLeafId())
        here = session.getLeafId()
        session.pick(plan=plan["plan"])
        assert [text_of(entry["message"]) for entry in session.getBranch() if entry["type"] == "message"] == [
            "Why is the build slow?",
            "The tests.",
            "The linker.",
        ]
        session.undo()
        assert session.buildSessionContext() == context
        session.branch(here)

        # What JavaScript's strings can hold, half a surrogate pair, comes back as well.
        odd = session.appendCustomEntry("demo", {"half": "\ud83d"})["id"]
        assert session.getEntry(odd)["data"] == {"half": "\ud83d"}

        # Another number on the same file sees the same entries.
        other = offshoot.open(session.sessionFile)
        assert other.getEntryCount() == session.getEntryCount() == 9
        assert [info["id"] for info in offshoot.listAll(folder)] == [session.sessionId]

        try:
            session.branch("nowhere")
            raise AssertionError("a branch from nowhere was taken")
        except OffshootError as error:
            assert error.kind == "notFound", error
            print("error:", error)
    print("ok")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else None, temporary)
