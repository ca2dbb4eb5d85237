import json, sys
from wasmtime import Engine, Store
from wasmtime.component import Component, Linker
layout, digest = sys.argv[1], lambda descriptor: descriptor["digest"].replace(":", "/")
blob = lambda descriptor: open(f"{layout}/blobs/{digest(descriptor)}", "rb").read()
manifest = json.loads(blob(json.load(open(f"{layout}/index.json"))["manifests"][0]))
store, component = Store(engine := Engine()), Component(engine, blob(manifest["layers"][0]))
evaluate = Linker(engine).instantiate(store, component).get_func(store, component.get_export_index("evaluate-json", component.get_export_index("plumb:policy/evaluator@0.1.0")))
print(evaluate(store, json.dumps({"check": {"object": json.load(open(sys.argv[2]))}})).payload)
