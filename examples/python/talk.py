"""Prints an answer while it comes, then what it cost.

    python3 talk.py PROMPT [COMMAND …]
"""

import sys

from offshoot_agent import OffshootAgent


def main(prompt, command):
    with OffshootAgent(command or ["offshoot", "--mode", "rpc", "--no-session"]) as agent:
        for event in agent.prompt(prompt):
            if event["type"] == "message_update":
                print(event["assistantMessageEvent"].get("delta", ""), end="", flush=True)
            elif event["type"] == "tool_execution_start":
                print(f"\n[{event['toolName']} {event['args']}]")
        stats = agent.ask("get_session_stats")
        print(f"\n{stats['tokens']['total']} tokens, ${stats['cost']:.4f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
