// `npm run bench:web`: measures in Chromium how long an evaluation takes after each keystroke, for a Pod of 300 lines and ten policies.
// `--enforce` fails if the 95th percentile exceeds the limit.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { chromiumProgram } from '../scripts/chromium.mjs';
import { ensureWebBuilt, root } from '../scripts/setup.mjs';

const limitMilliseconds = 50;
const warmUp = 20;
const keystrokes = 100;
const folder = join(root, 'dist/web');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

await ensureWebBuilt();
if (!existsSync(chromiumProgram())) {
  console.error(`${chromiumProgram()} does not exist: install Debian's chromium, or set CHROMIUM_PATH`);
  process.exit(2);
}
const { chromium } = await import('playwright-core');
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, 'http://localhost').pathname);
  const file = join(folder, path === '/' ? 'index.html' : path);
  if (!existsSync(file)) return response.writeHead(404).end();
  return response.writeHead(200, { 'content-type': types[extname(file)] ?? '' }).end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({ executablePath: chromiumProgram(), args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/#state=${encoded(workspace())}`);
await page.locator('.diff .line.added').first().waitFor();
const firstRender = await page.evaluate(
  () => performance.getEntriesByName('first-contentful-paint')[0].startTime,
);
await page.getByLabel('Object source').click();
await page.keyboard.press('Control+End');
for (let count = 0; count < warmUp + keystrokes; count++) {
  const before = await evaluations();
  await page.keyboard.type(count % 2 === 0 ? '#' : '.');
  await page.waitForFunction(
    (known) => performance.getEntriesByName('kymera-evaluation').length > known,
    before.length,
  );
}
const times = (await evaluations()).slice(-keystrokes).sort((left, right) => left - right);
await browser.close();
server.close();

const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
const p95 = at(0.95);
console.log(
  `page: ${Math.round(pageBytes() / 1024)} KB gzipped, first render after ${firstRender.toFixed(0)} ms`,
);
console.log(
  `evaluation after a keystroke (300-line Pod, 10 policies): median ${at(0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, limit ${limitMilliseconds} ms`,
);
process.exit(process.argv.includes('--enforce') && p95 > limitMilliseconds ? 1 : 0);

function evaluations() {
  return page.evaluate(() =>
    performance.getEntriesByName('kymera-evaluation').map(({ duration }) => duration),
  );
}

/** The fragment that the page reads: raw deflate, base64url. */
function encoded(value) {
  return deflateRawSync(JSON.stringify(value)).toString('base64url');
}

function workspace() {
  const cookbook = join(root, 'docs/cookbook');
  const policies = readdirSync(cookbook)
    .map((name) => ({
      name: `${name}.yaml`,
      text: readFileSync(join(cookbook, name, 'policy.yaml'), 'utf8'),
    }))
    .filter(({ text }) => /kinds: \[Pod\]/.test(text))
    .slice(0, 10);
  if (policies.length < 10) throw new Error(`the cookbook has only ${policies.length} policies for Pods`);
  return { policies, resources: [{ name: 'pod.yaml', text: pod() }] };
}

/** A Pod of 300 lines. */
function pod() {
  const container = (index) => `  - name: app-${index}
    image: registry.example.com/shop/app-${index}:latest
    args: ["--verbose", "--port=80${index}"]
    env:
    - name: MODE
      value: production
    - name: REGION
      value: eu-${index}
    ports:
    - containerPort: 80${index}
      name: http-${index}
    resources:
      requests:
        cpu: 100m
        memory: 128Mi
      limits:
        memory: 256Mi
    readinessProbe:
      httpGet:
        path: /ready
        port: 80${index}
      periodSeconds: 5
    volumeMounts:
    - name: data
      mountPath: /data
    - name: config
      mountPath: /etc/app
    terminationMessagePath: /dev/termination-log
`;
  const head =
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: shop\n  labels:\n    app: web\nspec:\n  containers:\n';
  const text = head + Array.from({ length: 10 }, (_, index) => container(10 + index)).join('');
  const tail =
    '  volumes:\n  - name: data\n    emptyDir: {}\n  - name: config\n    configMap:\n      name: app\n';
  const missing = 300 - (text + tail).split('\n').length;
  return `${text}${tail}${'  # filler\n'.repeat(Math.max(missing, 0))}# `;
}

function pageBytes() {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
}
