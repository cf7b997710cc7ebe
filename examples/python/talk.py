"""Prints an answer while it comes, then what it cost.

    python3 talk.py PROMPT [PATH-OF-OFFSHOOT]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "clients" / "python"))

from offshoot_sessions import OffshootAgent  # noqa: E402


def main(prompt, program=None):
    with OffshootAgent(program, ["--no-session"]) as agent:
        for event in agent.prompt(prompt):
            if event["type"] == "message_update":
                print(event["assistantMessageEvent"].get("delta", ""), end="", flush=True)
            elif event["type"] == "tool_execution_start":
                print(f"\n[{event['toolName']} {event['args']}]")
        stats = agent.call("get_session_stats")
        print(f"\n{stats['tokens']['total']} tokens, ${stats['cost']:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
