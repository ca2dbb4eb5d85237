"""Speaks Kubewarden's protocol to plumb's module for it, under wasmtime's WASI:
python kubewarden.py MODULE OBJECT.json"""
import json
import os
import sys
import tempfile

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig


def ask(engine, module, command, request):
    with tempfile.TemporaryDirectory() as folder:
        stdin, stdout = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(stdin, "w", encoding="utf-8") as file:
            json.dump(request, file)
        wasi = WasiConfig()
        wasi.argv = ("policy.wasm", command)
        wasi.stdin_file, wasi.stdout_file = stdin, stdout
        wasi.inherit_stderr()
        store = Store(engine)
        store.set_wasi(wasi)
        linker = Linker(engine)
        linker.define_wasi()
        instance = linker.instantiate(store, module)
        try:
            instance.exports(store)["_start"](store)
        except ExitTrap as end:
            if end.code != 0:
                raise SystemExit(f"{command}: exit code {end.code}") from end
        del store
        with open(stdout, encoding="utf-8") as file:
            return json.load(file)


def main():
    engine = Engine()
    module = Module.from_file(engine, sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        request = {"object": json.load(file)}
    settings = {"deny": ["message-*"]}
    print(ask(engine, module, "validate-settings", settings))
    print(ask(engine, module, "validate", {"request": request, "settings": {}}))
    print(ask(engine, module, "validate", {"request": request, "settings": settings}))


if __name__ == "__main__":
    main()
