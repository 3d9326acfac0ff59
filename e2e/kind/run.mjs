// `npm run e2e:kind [-- SPEC…]`: builds the image, makes a kind cluster, installs the chart with the image, tests it and takes it away again; then
// runs the specs of e2e/, unchanged, against the same cluster. Ends with 2 when a program that it needs is missing.
//   KIND_NODE_IMAGE   the image of the nodes, by which a version of Kubernetes is chosen
//   KYMERA_E2E_HOST   the address of this machine as the cluster reaches it; by default the gateway of kind's network
//   KEEP_CLUSTER=1    leaves the cluster there
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMain, root } from '../../scripts/setup.mjs';
import { helmProgram } from '../helm/build.mjs';

const cluster = 'kymera-e2e';
const image = 'kymera:e2e';
const needed = [
  ['docker', ['info'], 'a container engine that runs, to build the image and to hold the nodes'],
  ['kind', ['version'], 'kind, to make a cluster'],
  ['kubectl', ['version', '--client'], 'kubectl, to talk to it'],
];

/** Missing programs, one line each. */
export function missingPrograms(isThere = canRun) {
  return needed.filter(([name, args]) => !isThere(name, args)).map(([name, , what]) => `${name}: ${what}`);
}

function canRun(name, args) {
  return spawnSync(name, args, { stdio: 'ignore' }).status === 0;
}

async function main(specs) {
  const missing = missingPrograms();
  if (missing.length > 0) {
    console.error(`e2e:kind needs what is missing here:\n${missing.map((line) => `  ${line}\n`).join('')}`);
    return 2;
  }
  const helm = await helmProgram();
  if (helm.missing) {
    console.error(`e2e:kind needs what is missing here:\n  helm: ${helm.missing}`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'kymera-kind-'));
  const kubeconfig = join(folder, 'kubeconfig');
  try {
    run('docker', ['build', '--tag', image, '.']);
    makeCluster(kubeconfig);
    tryChart(helm.path, kubeconfig);
    return runSpecs(specs, kubeconfig);
  } catch (error) {
    console.error(error.message);
    return 1;
  } finally {
    if (!process.env.KEEP_CLUSTER)
      spawnSync('kind', ['delete', 'cluster', '--name', cluster], { stdio: 'inherit' });
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeCluster(kubeconfig) {
  const nodeImage = process.env.KIND_NODE_IMAGE;
  const config = fileURLToPath(new URL('cluster.yaml', import.meta.url));
  const args = [
    'create',
    'cluster',
    '--name',
    cluster,
    '--config',
    config,
    '--kubeconfig',
    kubeconfig,
    '--wait',
    '3m',
  ];
  run('kind', nodeImage ? [...args, '--image', nodeImage] : args);
  run('kind', ['load', 'docker-image', image, '--name', cluster]);
}

/** Installs the chart as a user does: Pods become ready, `helm test` passes, and the hook removes the webhook configurations. */
function tryChart(helm, kubeconfig) {
  const release = ['kymera', '--namespace', 'kymera', '--kubeconfig', kubeconfig];
  const [repository, tag] = image.split(':');
  const values = [`image.repository=${repository},image.tag=${tag},image.pullPolicy=Never`];
  const install = ['--create-namespace', '--wait', '--timeout', '3m', '--set', ...values];
  run(helm, ['install', ...release.slice(0, 1), 'charts/kymera', ...release.slice(1), ...install]);
  run(helm, ['test', ...release]);
  run(helm, ['uninstall', ...release, '--wait']);
  const listed = spawnSync(
    'kubectl',
    [
      '--kubeconfig',
      kubeconfig,
      'get',
      'mutatingwebhookconfigurations,validatingwebhookconfigurations',
      '-o',
      'name',
    ],
    { encoding: 'utf8' },
  );
  if (listed.stdout.includes('kymera'))
    throw new Error(`left behind after helm uninstall:\n${listed.stdout}`);
  run('kubectl', ['--kubeconfig', kubeconfig, 'delete', 'namespace', 'kymera']);
}

function runSpecs(specs, kubeconfig) {
  const host = process.env.KYMERA_E2E_HOST ?? gateway();
  const { status } = spawnSync(process.execPath, ['e2e/run.mjs', ...specs], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, KYMERA_E2E_KUBECONFIG: kubeconfig, KYMERA_E2E_HOST: host },
  });
  return status ?? 1;
}

/** The address of this machine for Pods and nodes of kind. */
function gateway() {
  const format = '{{range .IPAM.Config}}{{.Gateway}} {{end}}';
  const { stdout } = spawnSync('docker', ['network', 'inspect', 'kind', '--format', format], {
    encoding: 'utf8',
  });
  const address = stdout.split(/\s+/).find((each) => /^\d+(\.\d+){3}$/.test(each));
  if (address === undefined) throw new Error('the network of kind has no gateway: set KYMERA_E2E_HOST');
  return address;
}

function run(command, args) {
  console.error(`$ ${command} ${args.join(' ')}`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status ?? error?.message}`);
}

if (isMain(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
