"""The same by the core module and the canonical ABI, as docs/abi.md tells it:
python core.py MODULE OBJECT.json

What is used of the runtime, every runtime for core WebAssembly has: memory, and functions of
numbers.
"""
import json
import sys

from wasmtime import Engine, Instance, Module, Store

EVALUATE = "plumb:policy/evaluator@0.1.0#evaluate-json"


def evaluate(module, request):
    store = Store(ENGINE)
    exports = Instance(store, module, []).exports(store)  # nothing is imported
    memory = exports["memory"]

    # 1. Room for the request: old pointer, old size, alignment, size.
    data = request.encode()
    pointer = exports["cabi_realloc"](store, 0, 0, 1, len(data))
    memory.write(store, data, pointer)

    # 2. The call gives the address of the result.
    result = exports[EVALUATE](store, pointer, len(data))

    # 3. There: a byte that is 0 for ok and 1 for err, and from 4 on the address and length of a
    #    text, in 32 bits, the lowest byte first.
    number = lambda at: int.from_bytes(memory.read(store, at, at + 4), "little")
    is_err, at, length = memory.read(store, result, result + 1)[0], number(result + 4), number(result + 8)
    text = bytes(memory.read(store, at, at + length)).decode()

    # 4. The result is given back.
    exports["cabi_post_" + EVALUATE](store, result)
    if is_err:
        raise ValueError(text)
    return text


ENGINE = Engine()


def main():
    module = Module.from_file(ENGINE, sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        request = json.dumps({"check": {"object": json.load(file)}})
    print(evaluate(module, request))
    try:
        evaluate(module, '{"guess":{}}')
    except ValueError as fault:
        print(fault)


if __name__ == "__main__":
    main()
