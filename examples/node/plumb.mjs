// A policy in Node: jco has made JavaScript and a core module of the component.
import { readFileSync } from 'node:fs';
import { instantiate } from './plumb/plumb.js';

const core = new WebAssembly.Module(readFileSync(new URL('./plumb/plumb.core.wasm', import.meta.url)));

/** A fresh instance of the policy; {}: it imports nothing. */
export const policy = () => instantiate(() => core, {}).evaluator;

/** The answer to a request; throws an Error whose `payload` is the fault. */
export const ask = (evaluator, request) => evaluator.evaluateJson(request);
