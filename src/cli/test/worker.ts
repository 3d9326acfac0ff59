import { parentPort, workerData } from 'node:worker_threads';
import { parseFilter } from '../../offline/test/filter.ts';
import type { Io } from '../io.ts';
import type { WorkerSettings } from './pool.ts';
import { runSuite } from './suite.ts';

const { filter, strict, strictCompat, cwd, env } = workerData as WorkerSettings;
const silent = { isTTY: false, write: () => {} };
const io: Io = { stdin: (async function* () {})(), stdout: silent, stderr: silent, cwd, env };
const parsed = parseFilter(filter);

parentPort?.on('message', (file: string) => {
  void runSuite(file, parsed, io, { strict, strictCompat }).then((result) => parentPort?.postMessage(result));
});
