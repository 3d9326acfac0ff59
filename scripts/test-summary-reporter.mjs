import { writeFileSync } from 'node:fs';

/** A vitest reporter that records why tests were skipped, which the JSON reporter omits. */
export default class TestSummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const summary = {
      passed: 0,
      failed: 0,
      skipped: [],
      errors: unhandledErrors.map((error) => error.message),
    };
    for (const module of modules) {
      for (const test of module.children.allTests()) countTest(test, summary);
      // A file that does not load and a hook that throws are not counted as tests.
      for (const error of module.errors())
        summary.errors.push(`${module.relativeModuleId}: ${error.message}`);
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) summary.errors.push(`${suite.fullName}: ${error.message}`);
      }
    }
    const file = process.env.KYMERA_TEST_SUMMARY;
    if (file) writeFileSync(file, JSON.stringify(summary));
  }
}

function countTest(test, summary) {
  const { state, note } = test.result();
  if (state === 'passed') summary.passed += 1;
  else if (state === 'failed') summary.failed += 1;
  else summary.skipped.push({ name: test.fullName, reason: note ?? reasonOf(test) });
}

/** vitest gives none for tests that a failed hook or a filter leaves out. */
function reasonOf(test) {
  for (let parent = test.parent; parent !== undefined; parent = parent.parent) {
    if (parent.errors().length > 0) return 'a hook of its suite failed';
  }
  return test.module.errors().length > 0 ? 'a hook of its file failed' : 'not selected by the filter';
}
