// A server with a rule that never returns for objects named "stuck". The test bundles this file and runs it in a process of
// its own: node stuck-server.mjs FOLDER
import { createPolicySets } from '../../src/admission/policy-sets.ts';
import { createServeLog } from '../../src/cli/serve/log.ts';
import { nameOf } from '../../src/json/metadata.ts';
import { loadDocuments } from '../../src/policy/load.ts';
import { keepSelfSigned } from '../../src/server/certificate-folder.ts';
import { startServer } from '../../src/server/server.ts';

const [folder = ''] = process.argv.slice(2);
const document = (name: string, failurePolicy: string) => `---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}, annotations: {pod-policies.kyverno.io/autogen-controllers: none}}
spec:
  failurePolicy: ${failurePolicy}
  rules:
  - name: rule
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {${name}: "1"}}}}
`;
const text = document('good', 'Fail') + document('endless', 'Ignore');
const { policies, problems } = loadDocuments([{ file: 'policies.yaml', text }]);
if (policies.length !== 2) throw new Error(JSON.stringify(problems));
for (const rule of policies.find(({ name }) => name === 'endless')?.rules ?? []) {
  const { mutation } = rule;
  if (mutation.type !== 'patch') continue;
  const { apply } = mutation.patch;
  Object.assign(mutation.patch, {
    apply(...[object, scope]: Parameters<typeof apply>) {
      while (nameOf(object) === 'stuck');
      return apply(object, scope);
    },
  });
}
const sets = createPolicySets(policies);
const { cert, key, ca } = await keepSelfSigned(folder, ['127.0.0.1']);
const log = createServeLog('info', { isTTY: false, write: (lines) => void process.stderr.write(lines) });
const server = await startServer({
  host: '127.0.0.1',
  port: 0,
  certificate: { cert, key },
  provider: {
    current: () => sets,
    readiness: () => ({ ready: true, checks: [] }),
    onChange: () => () => undefined,
  },
  log,
  watchdogFolder: folder,
});
process.stdout.write(`${JSON.stringify({ port: server.port, ca })}\n`);
