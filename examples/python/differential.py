"""Whether this host gives the answers in a file of `NAME, REQUEST, ANSWER` in JSON, one a line:
python differential.py COMPONENT REQUESTS.jsonl"""
import json
import sys

from judge import Policy


def main():
    policy, count = Policy(sys.argv[1], fuel=2_000_000_000), 0
    live = policy.instance()
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            asked = json.loads(line)
            for instance in (None, live):
                try:
                    answer = {"ok": policy.ask(asked["request"], instance)}
                except ValueError as fault:
                    answer = {"err": str(fault)}
                if answer != asked["answer"]:
                    sys.exit(f"{asked['name']}: {answer} here, {asked['answer']} there")
            count += 1
    print(f"python: {count} requests are answered alike")


if __name__ == "__main__":
    main()
