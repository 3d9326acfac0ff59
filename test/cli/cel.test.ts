import { describe, expect, it, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const files = {
  'pod.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers: [{name: a, image: nginx}, {name: b, image: redis}]\n',
  'old.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n',
  'params.yaml': 'spec: {limit: 3}\n',
  'expression.cel': 'object.metadata.name\n',
  'broken.yaml': 'a: [',
};

describe('kymera cel eval', () => {
  test.each([
    [['object.metadata'], '{\n  "name": "web",\n  "namespace": "shop"\n}\n'],
    [['-c', 'object.spec.containers.map(c, c.image)'], '["nginx","redis"]\n'],
    [['-u', 'object.kind + "s"'], 'Pods\n'],
    [['-f', 'expression.cel'], '"web"\n'],
    [['-c', 'object.kind', '1 + 1'], '# object.kind\n"Pod"\n# 1 + 1\n2\n'],
    [['object.?spec.?nodeName'], 'optional.none()\n'],
    [['optional.of("a")'], 'optional.of("a")\n'],
    [['type(1)'], 'int\n'],
    [['gzip.decompress(gzip.compress("a"))'], '"a"\n'],
    [['9007199254740993'], '9007199254740993\n'],
    [['request.operation'], '"CREATE"\n'],
    [['--old', 'old.yaml', 'request.operation + string(has(oldObject.spec))'], '"UPDATEfalse"\n'],
    [['request.kind.version + namespaceObject.metadata.name'], '"v1shop"\n'],
    [['--kind', 'MutatingAdmissionPolicy', '--params', 'params.yaml', 'params.spec.limit'], '3\n'],
    [['--kind', 'MutatingAdmissionPolicy', 'oldObject == null'], 'true\n'],
    [['oldObject == null'], 'false\n'],
    [['-c', 'Object{metadata: Object.metadata{labels: {"a": "b"}}}'], '{"metadata":{"labels":{"a":"b"}}}\n'],
  ])('%j', async (argv, stdout) => {
    expect(await kymera(['cel', 'eval', '-i', 'pod.yaml', ...argv], { files })).toEqual({
      exitCode: 0,
      stdout,
      stderr: '',
    });
  });

  it('reads the document, or the expression, from standard input', async () => {
    expect((await kymera(['cel', 'eval', '-i', '-', 'object.a'], { stdin: '{"a": 1}' })).stdout).toBe('1\n');
    expect((await kymera(['cel', 'eval'], { stdin: '1 + 1\n' })).stdout).toBe('2\n');
    expect((await kymera(['cel', 'eval', '-i', '-'], { stdin: '1' })).exitCode).toBe(2);
  });

  it('shows where evaluation failed', async () => {
    const { exitCode, stderr } = await kymera(['cel', 'eval', '-i', 'pod.yaml', 'object.spec.nope'], {
      files,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      [
        'error: 1:12: no such key: nope [KYM_CEL_FAILED]',
        '> 1 | object.spec.nope',
        '    |            ^',
        '  hint: Guard fields that may be absent with `has(object.field)` or `object.?field.orValue(default)`.',
        '',
      ].join('\n'),
    );
  });

  it('ends when the budget is exhausted', async () => {
    const source = 'lists.range(1000000).all(i, lists.range(1000000).all(j, true))';
    const { exitCode, stderr } = await kymera(['cel', 'eval', source]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('KYM_BUDGET_EXHAUSTED');
  });

  test.each([
    ['an invalid expression', ['1 + "a"'], 'KYM_CEL_INVALID'],
    ['an invalid document', ['-i', 'broken.yaml', '1'], 'KYM_YAML_SYNTAX'],
    ['params of a MutatingPolicy', ['--params', 'params.yaml', '1'], 'KYM_USAGE'],
  ])('%s ends with 2', async (_name, argv, code) => {
    const { exitCode, stderr } = await kymera(['cel', 'eval', ...argv], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(code);
  });
});

describe('kymera cel check', () => {
  it('prints types', async () => {
    expect((await kymera(['cel', 'check', 'object.spec.replicas > 1'])).stdout).toBe('bool\n');
    expect((await kymera(['cel', 'check', '[1]', '{"a": timestamp(0)}'])).stdout).toBe(
      'list(int)\t# [1]\nmap(string, timestamp)\t# {"a": timestamp(0)}\n',
    );
  });

  it('prints the first version of Kubernetes that has the functions of a MutatingAdmissionPolicy', async () => {
    const check = async (...more: readonly string[]) =>
      (await kymera(['cel', 'check', 'isSemver("1.0.0")', ...more])).stdout;
    expect(await check()).toBe('bool\n');
    expect(await check('--kind', 'MutatingAdmissionPolicy')).toBe(
      'bool\tKubernetes 1.33 or later: isSemver\n',
    );
  });

  it('prints all problems with position and hint', async () => {
    const { exitCode, stderr } = await kymera(['cel', 'check', 'objekt.a\n&& 1 + 1.5 > 2.0']);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      [
        "error: 1:1: undeclared reference to 'objekt' (in container '') [KYM_CEL_INVALID]",
        '> 1 | objekt.a',
        '    | ^',
        '  2 | && 1 + 1.5 > 2.0',
        "  hint: Did you mean 'object'?",
        "error: 2:6: found no matching overload for '_+_' applied to '(int, double)' [KYM_CEL_INVALID]",
        '  1 | objekt.a',
        '> 2 | && 1 + 1.5 > 2.0',
        '    |      ^',
        '  hint: Convert one side: double(…) or int(…).',
        '',
      ].join('\n'),
    );
  });

  it('knows what each kind of policy has', async () => {
    const argv = ['cel', 'check', '--kind', 'MutatingAdmissionPolicy'];
    expect((await kymera([...argv, 'sha256("a")'])).exitCode).toBe(2);
    expect(
      (await kymera([...argv, 'params.a && authorizer.path("/").check("get").allowed()'])).exitCode,
    ).toBe(0);
  });
});
