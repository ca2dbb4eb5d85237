// Opens the page in headless Chromium and looks at the verdict: node check.mjs
import { execFile } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { promisify } from 'node:util';

const types = { '.html': 'text/html', '.mjs': 'text/javascript', '.js': 'text/javascript', '.wasm': 'application/wasm', '.yaml': 'text/plain' };
const server = createServer((request, response) => {
  const name = request.url === '/' ? 'index.html' : request.url.slice(1);
  const file = new URL(`./site/${name}`, import.meta.url);
  if (!existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const browser = process.env.CHROMIUM ?? 'chromium-headless-shell';
const { stdout } = await promisify(execFile)(browser, [
  '--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=20000', '--dump-dom',
  `http://127.0.0.1:${server.address().port}/`,
], { maxBuffer: 16 << 20, timeout: 60000 }).finally(() => server.close());

const verdict = stdout.match(/<section id="verdict".*?<\/section>/s)?.[0] ?? stdout;
const wanted = ['data-coherence="incoherent"', 'message-revision-differs-from-field', '/status/artifact/revision'];
const missing = wanted.filter((text) => !verdict.includes(text));
if (missing.length) {
  console.error(`the page does not say ${missing.join(', ')}:\n${verdict}`);
  process.exit(1);
}
console.log('browser: the page says incoherent');
