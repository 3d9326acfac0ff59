import type { Converter } from './convert.ts';
import { createWorkspaceEvaluator } from './evaluate.ts';
import { functionReferences } from './functions.ts';
import { locate } from './locate.ts';
import type { JobReply, JobRequest, Jobs } from './protocol.ts';
import { openTest, saveTest } from './save-test.ts';

const evaluator = createWorkspaceEvaluator(() => performance.now());
let converter: Promise<Converter> | undefined;

/** Loaded for the first conversion. */
function loadConverter(): Promise<Converter> {
  converter ??= import('./convert.ts').then(({ createConverter }) => createConverter(evaluator.last));
  return converter;
}

function perform(request: JobRequest): Promise<Jobs[keyof Jobs]['output']> | Jobs[keyof Jobs]['output'] {
  switch (request.job) {
    case 'evaluate':
      return evaluator.evaluate(request.input);
    case 'step':
      return evaluator.linesAfter(request.input.object, request.input.count);
    case 'output':
      return evaluator.output();
    case 'stage':
      return evaluator.stage(request.input);
    case 'stageLines':
      return evaluator.stageLines(request.input.stage, request.input.resource);
    case 'saveTest':
      return saveTest(request.input);
    case 'openTest':
      return openTest(request.input);
    case 'convert':
      return loadConverter().then((loaded) => loaded.convert(request.input));
    case 'compare':
      return loadConverter().then((loaded) => loaded.compare(request.input));
    case 'prove':
      return loadConverter().then((loaded) => loaded.prove());
    case 'functions':
      return functionReferences();
    case 'locate':
      return locate(request.input.source, request.input.line, request.input.path);
  }
}

async function answer(request: JobRequest): Promise<JobReply> {
  try {
    return { id: request.id, output: await perform(request) };
  } catch (error) {
    return { id: request.id, error: error instanceof Error ? error.message : String(error) };
  }
}

postMessage({ ready: true } satisfies JobReply);
addEventListener('message', (event: MessageEvent<JobRequest>) => {
  void answer(event.data).then((reply) => postMessage(reply));
});
