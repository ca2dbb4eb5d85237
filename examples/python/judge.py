"""Judges a Kubernetes object with plumb's component: python judge.py COMPONENT OBJECT.json"""
import json
import sys
import time

from wasmtime import Config, Engine, Store
from wasmtime.component import Component, Linker

INTERFACE = "plumb:policy/evaluator@0.1.0"


class Policy:
    """A policy component. Each evaluation has an instance, memory and time of its own."""

    def __init__(self, path, fuel=50_000_000, memory_bytes=64 << 20):
        config = Config()
        config.consume_fuel = True
        self.engine, self.fuel, self.memory_bytes = Engine(config), fuel, memory_bytes
        self.component = Component.from_file(self.engine, path)
        interface = self.component.get_export_index(INTERFACE)
        self.index = self.component.get_export_index("evaluate-json", interface)
        self.linker = Linker(self.engine)  # empty: a policy imports nothing

    def instance(self):
        store = Store(self.engine)
        store.set_fuel(self.fuel)
        store.set_limits(memory_size=self.memory_bytes)
        instance = self.linker.instantiate(store, self.component)
        return store, instance.get_func(store, self.index)

    def ask(self, request, live=None):
        """The answer to a request, or a ValueError with the fault."""
        store, function = live or self.instance()
        store.set_fuel(self.fuel)
        result = function(store, request)
        function.post_return(store)
        if result.tag == "err":
            raise ValueError(result.payload)
        return result.payload


def microseconds(function, count=500):
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            function()
        best = min(best, (time.perf_counter() - start) / count)
    return round(best * 1e6)


def main():
    policy = Policy(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        request = json.dumps({"check": {"object": json.load(file)}})
    verdict = json.loads(policy.ask(request))
    print(verdict["coherence"], verdict["phase"])
    for finding in verdict["findings"]:
        print(f"{finding['severity']} {finding['rule']} {finding['path']}: {finding['message']}")
    if sys.argv[3:] == ["--bench"]:
        live = policy.instance()
        reused, fresh = microseconds(lambda: policy.ask(request, live)), microseconds(lambda: policy.ask(request))
        print(f"reused {reused} us, fresh {fresh} us", file=sys.stderr)


if __name__ == "__main__":
    main()
