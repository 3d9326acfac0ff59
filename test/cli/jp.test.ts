import { describe, expect, it, test } from 'vitest';
import { functionTable } from '../../src/expression/functions/table.ts';
import { kymera } from './in-process.testing.ts';

const files = {
  'pod.yaml': 'kind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: a, tty: true}, {name: b}]\n',
  'two.yaml': 'a: 1\n---\na: 2\n',
  'query.txt': 'metadata.name\n',
  'empty.yaml': '',
  'deep.json': '['.repeat(10_000),
};

describe('kymera jp query', () => {
  test.each([
    [['metadata'], '{\n  "name": "web"\n}\n'],
    [['-c', 'metadata'], '{"name":"web"}\n'],
    [['metadata.name'], '"web"\n'],
    [['-u', 'metadata.name'], 'web\n'],
    [['-q', 'query.txt'], '"web"\n'],
    [['{{ to_upper(kind) }}'], '"POD"\n'],
    [['-c', 'kind', 'metadata.name'], '# kind\n"Pod"\n# metadata.name\n"web"\n'],
  ])('%j', async (argv, stdout) => {
    expect(await kymera(['jp', 'query', '-i', 'pod.yaml', ...argv], { files })).toEqual({
      exitCode: 0,
      stdout,
      stderr: '',
    });
  });

  it('reads the document, or the expression, from standard input', async () => {
    expect((await kymera(['jp', 'query', 'a.b'], { stdin: '{"a": {"b": 1}}' })).stdout).toBe('1\n');
    expect((await kymera(['jp', 'query', '-i', 'pod.yaml'], { files, stdin: 'kind\n' })).stdout).toBe(
      '"Pod"\n',
    );
    expect((await kymera(['jp', 'query'], { stdin: 'kind\n' })).exitCode).toBe(2);
  });

  it('answers for each document', async () => {
    const { stdout } = await kymera(['jp', 'query', '-i', 'two.yaml', 'a'], { files });
    expect(stdout).toBe('# a\n1\n# a\n2\n');
  });

  it('puts a caret where an expression goes wrong', async () => {
    const { exitCode, stderr } = await kymera(['jp', 'query', '-i', 'pod.yaml', 'a.b\n..c'], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'error: unexpected ".", expected a key, [ or { [KYM_EXPRESSION_SYNTAX]\n  a.b\n  ..c\n   ^\n',
    );
    const dashed = await kymera(['jp', 'query', '-i', 'pod.yaml', 'a.my-key'], { files });
    expect(dashed.stderr).toContain('hint: keys with dashes');
  });

  it('says what could not be found, and ends with 1', async () => {
    const { exitCode, stderr } = await kymera(['jp', 'query', '-i', 'pod.yaml', 'metadata.nothing'], {
      files,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'error: metadata.nothing: Unknown key "nothing" in path [KYM_VARIABLE_UNRESOLVED]',
    );
  });

  test.each([
    ['deep.json', 'KYM_INPUT_TOO_DEEP'],
    ['nowhere.yaml', 'KYM_INPUT_UNREADABLE'],
  ])('%s is bad input', async (file, code) => {
    const { exitCode, stderr } = await kymera(['jp', 'query', '-i', file, 'a'], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(code);
  });

  it('takes an empty document for null', async () => {
    expect((await kymera(['jp', 'query', '-i', 'empty.yaml', 'type(@)'], { files })).stdout).toBe('"null"\n');
  });
});

describe('kymera jp parse', () => {
  it('draws the tree', async () => {
    const { stdout } = await kymera(['jp', 'parse', 'a."b-c"[0] | [?x == `1`].length(@)']);
    expect(stdout).toBe(
      [
        'pipe (|)',
        '├─ path a."b-c"[0]',
        '└─ filter ([?])',
        '   ├─ of: current (@)',
        '   ├─ where: compare (==)',
        '   │  ├─ path x',
        '   │  └─ literal 1',
        '   └─ take: function length()',
        '      └─ current (@)',
        '',
      ].join('\n'),
    );
  });

  it('knows every form', async () => {
    const expression = "!a && [b[], c.*.d, e[1:2], {f: &g}] || 'h' | sort_by(i, &j)[*].k";
    const { exitCode, stdout } = await kymera(['jp', 'parse', expression]);
    expect(exitCode).toBe(0);
    for (const word of [
      'not',
      'and',
      'or',
      'list',
      'flatten',
      'value',
      'slice',
      'map',
      'expression',
      'literal',
    ]) {
      expect(stdout).toContain(word);
    }
    expect((await kymera(['jp', 'parse', 'a['])).exitCode).toBe(2);
  });
});

describe('kymera jp functions', () => {
  it('lists all with signature, description and example', async () => {
    const { stdout } = await kymera(['jp', 'functions']);
    for (const name of functionTable.keys()) expect(stdout).toContain(`${name}(`);
    expect(stdout).toContain(
      'truncate(string, number) string\n  The first characters of a string.\n  truncate(\'abcdefgh\', `3`) → "abc"\n',
    );
  });

  it('finds by name and wildcard', async () => {
    const { stdout } = await kymera(['jp', 'functions', 'to_*er']);
    expect(stdout.match(/^\w+/gm)).toEqual(['to_lower', 'to_number', 'to_upper']);
    const { exitCode, stderr } = await kymera(['jp', 'functions', 'truncat']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('did you mean truncate?');
  });
});
