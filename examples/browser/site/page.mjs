// Judges what stands in the text field, as it is typed.
import * as yaml from './js-yaml.mjs';
import { instantiate } from './plumb/plumb.js';

const compiled = await WebAssembly.compileStreaming(fetch('plumb/plumb.core.wasm'));
const instance = () => instantiate(() => compiled, {}, (module) => new WebAssembly.Instance(module, {}));
let { evaluator } = await instance();

const field = document.getElementById('object');
const place = document.getElementById('verdict');

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

async function judge() {
  try {
    // CORE_SCHEMA: a time stays the text that it is.
    const object = JSON.stringify(yaml.load(field.value, { schema: yaml.CORE_SCHEMA }));
    const { coherence, phase, reason, findings } = evaluator.check({ object, history: [], related: [], settings: '' });
    place.dataset.coherence = coherence;
    place.replaceChildren(element('h2', `${coherence}, ${phase}`), element('p', reason));
    for (const { severity, rule, path, message, help } of findings) {
      place.append(element('h3', `${severity}: ${rule}`), element('code', path), element('p', message));
      if (help) place.append(element('p', help));
    }
  } catch (error) {
    place.dataset.coherence = '';
    place.replaceChildren(element('p', error.payload?.val ?? error.message));
    // A fault is an answer. After a trap the instance gives none.
    if (error.payload === undefined) ({ evaluator } = await instance());
  }
}

field.addEventListener('input', judge);
field.value = await (await fetch('torn.yaml')).text();
await judge();
