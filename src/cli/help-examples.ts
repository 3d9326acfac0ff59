/** Examples in the help texts; tests run them. */

export const programExamples = `
Examples:
  $ kymera apply policies/ -r deployment.yaml
  $ kymera explain policy.yaml -r pod.yaml
  $ kymera test tests/

Exit codes: 0 fine; 1 a rule or a test failed; 2 the input or the command line is wrong.`;

export const applyExamples = `
Paths are files, folders (all .yaml, .yml and .json below them), globs, or - for standard input. -r takes
every path after it, up to the next option: name policies first. Policies found among resources are not
mutated. Nothing is written before all input proved good.

Exit codes: 0 fine; 1 a rule failed; 2 bad input.

Examples:
  $ kymera apply policy.yaml -r pod.yaml                     show the difference
  $ kymera apply policies/ -r 'manifests/**/*.yaml' -o yaml  print all objects as policies leave them
  $ kymera apply policies/ -r manifests --output out/        write them to files
  $ kustomize build . | kymera apply policies/ -r - -o yaml  in a pipe
  $ kymera apply policy.yaml -r pod.yaml --set request.operation=UPDATE
  $ kymera apply policy.yaml -r pod.yaml --values values.yaml --userinfo user.yaml -o patch`;

export const explainExamples = `
Exit codes: 0 fine; 1 a rule failed; 2 bad input.

Examples:
  $ kymera explain policy.yaml -r pod.yaml
  $ kymera explain policies/ -r pod.yaml -o json`;

export const testExamples = `
Whole objects are compared; null and empty are as good as absent. A result that nothing verifies (no such
rule, object or expected document) is a failure, or a warning with --lenient.

Exit codes: 0 all tests passed; 1 a test failed, or there is none; 2 bad input.

Examples:
  $ kymera test tests/
  $ kymera test tests/ --filter policy=p,resource=web --fail-only
  $ kymera test tests/ --coverage --report junit=report.xml
  $ kymera test --lenient kyverno-policies/`;
