// Whether this host gives the answers in a file of {name, request, answer} in JSON, one a line:
// node differential.mjs REQUESTS.jsonl
import { readFileSync } from 'node:fs';
import { policy, ask } from './plumb.mjs';

const reused = policy();
let count = 0;
for (const line of readFileSync(process.argv[2], 'utf8').trimEnd().split('\n')) {
  const { name, request, answer: expected } = JSON.parse(line);
  let answer;
  try {
    answer = { ok: ask(reused, request) };
  } catch (error) {
    if (error.payload === undefined) throw error;
    answer = { err: error.payload };
  }
  if (answer.ok !== expected.ok || answer.err !== expected.err) {
    console.error(`${name}: ${JSON.stringify(answer)} here, ${JSON.stringify(expected)} there`);
    process.exit(1);
  }
  count++;
}
console.log(`node: ${count} requests are answered alike`);
