"""Reads the events of `kesoku chat --json` and prints tools as they run, then the answer."""

import json
import sys

for line in sys.stdin:
    event = json.loads(line)
    match event["type"]:
        case "call":
            print(f"running {event['name']}: {event['summary']}")
        case "question":
            print(f"asked: {event['text']} - answered: {event['answer']}")
        case "answer":
            print(f"answer: {event['text']}")
        case "error":
            sys.exit(event["text"])
