// Judges a Kubernetes object: node judge.mjs OBJECT.json
import { readFileSync } from 'node:fs';
import { policy } from './plumb.mjs';

const object = readFileSync(process.argv[2], 'utf8');
const observation = { object, history: [], related: [], settings: '' };

// The typed function; `evaluateJson` takes and gives text.
const verdict = policy().check(observation);
console.log(verdict.coherence, verdict.phase);
for (const { severity, rule, path, message } of verdict.findings) {
  console.log(`${severity} ${rule} ${path}: ${message}`);
}

if (process.argv[3] === '--bench') {
  const microseconds = (judge, count) => {
    let best = Infinity;
    for (let round = 0; round < 5; round++) {
      const start = performance.now();
      for (let n = 0; n < count; n++) judge();
      best = Math.min(best, (performance.now() - start) / count);
    }
    return Math.round(best * 1000);
  };
  const reused = policy();
  console.error(`reused ${microseconds(() => reused.check(observation), 500)} us,`,
    `fresh ${microseconds(() => policy().check(observation), 50)} us`);
}
