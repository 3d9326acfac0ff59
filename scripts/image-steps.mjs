// `node scripts/image-steps.mjs [FOLDER]`: does what the Dockerfile says in a clean folder, without a container engine, and tells what would be
// copied into the image. RUN happens in the folder that stands for WORKDIR; base images and users are left out.
// `--modules FOLDER` takes installed packages from there instead of running `npm ci`.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import {
  argument,
  contextFiles,
  copyParts,
  expand,
  readDockerfile,
  sizeOf,
  stagesOf,
} from './dockerfile.mjs';
import { isMain, root } from './setup.mjs';

/** @returns the folder that stands for the root of the image, and the final stage */
export function runImageSteps({ folder, modules, log = () => {} }) {
  const stages = stagesOf(readDockerfile(join(root, 'Dockerfile')));
  const context = contextFiles(root);
  const roots = new Map();
  for (const stage of stages) {
    const place = join(folder, stage.name);
    mkdirSync(place, { recursive: true });
    roots.set(stage.name, place);
    runStage(stage, { place, roots, context, modules, log });
  }
  const last = stages.at(-1);
  return { image: roots.get(last.name), stage: last };
}

function runStage(stage, { place, roots, context, modules, log }) {
  const variables = {};
  let workdir = '/';
  for (const { line, name, text } of stage.instructions) {
    log(`${String(line).padStart(3)} ${name} ${text}`);
    if (name === 'ARG') Object.assign(variables, argument(text));
    if (name === 'ENV') Object.assign(variables, argument(text));
    if (name === 'WORKDIR') {
      workdir = resolve(workdir, expand(text, variables));
      mkdirSync(join(place, workdir), { recursive: true });
    }
    if (name === 'COPY') copy(copyParts(expand(text, variables)), { place, workdir, roots, context });
    if (name === 'RUN') runCommand(expand(text, variables), join(place, workdir), { line, modules });
  }
}

function copy({ from, sources, target }, { place, workdir, roots, context }) {
  const goal = join(place, resolve(workdir, target));
  const isFolder = target.endsWith('/') || sources.length > 1;
  for (const source of sources) {
    if (from !== undefined) {
      const start = join(roots.get(from), source);
      cpSync(start, isFolder ? join(goal, basename(source)) : goal, { recursive: true });
      continue;
    }
    const files = context.filter((path) => path === source || path.startsWith(`${source}/`));
    if (files.length === 0) throw new Error(`COPY ${source}: no such file in the build context`);
    for (const path of files) {
      const rest = path === source ? (isFolder ? basename(source) : '') : path.slice(source.length + 1);
      const copyTo = join(goal, rest);
      mkdirSync(dirname(copyTo), { recursive: true });
      cpSync(join(root, path), copyTo);
    }
  }
}

function runCommand(command, cwd, { line, modules }) {
  if (modules !== undefined && command.startsWith('npm ci')) {
    symlinkSync(modules, join(cwd, 'node_modules'));
    return;
  }
  const { status, stderr } = spawnSync('sh', ['-ec', command], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`RUN in line ${line} ended with ${status}: ${stderr.slice(-500)}`);
}

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  const flag = args.indexOf('--modules');
  const modules = flag < 0 ? undefined : resolve(args.splice(flag, 2)[1]);
  const folder = args[0] === undefined ? mkdtempSync(join(tmpdir(), 'kymera-image-')) : resolve(args[0]);
  if (existsSync(folder) && statSync(folder).isDirectory() === false)
    throw new Error(`${folder} is not a folder`);
  const { image } = runImageSteps({ folder, modules, log: console.error });
  console.log(`${image}: ${(sizeOf(image) / 1e6).toFixed(2)} MB copied into the image`);
}
