import { describe, expect, it, test } from 'vitest';
import { differenceSections } from '../../src/analysis/advice/difference.ts';
import { headingAnchor } from '../../src/cli/about/heading-anchor.ts';
import { allCommands, modelOf } from '../../src/cli/command-model.ts';
import { foreignFlags } from '../../src/cli/foreign-flags.ts';
import { wrapHelp } from '../../src/cli/help-text.ts';
import { createProgram } from '../../src/cli/program.ts';
import { errorTable } from '../../src/errors.ts';
import { kymera } from './in-process.testing.ts';

describe('version', () => {
  it('is printed by version, -v, -V and --version', async () => {
    const { stdout } = await kymera(['version']);
    expect(stdout).toMatch(/^kymera \S+\nNode\.js v\d+\./);
    const version = /^kymera (\S+)/.exec(stdout)?.[1];
    for (const flag of ['-v', '-V', '--version']) {
      expect(await kymera([flag])).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
    }
  });
});

describe('a misspelled command', () => {
  it.each([
    ['aply', 'apply'],
    ['valdate', 'validate'],
    ['explian', 'explain'],
    ['jp qury', 'query'],
    ['create tst', 'test'],
    ['existing plna', 'plan'],
  ])('%s: did you mean %s?', async (written, meant) => {
    const { exitCode, stderr } = await kymera(written.split(' '));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`(Did you mean ${meant}?)`);
  });

  it.each([
    ['lint', 'kymera validate'],
    ['kustomize', 'kymera build'],
    ['fix', 'kymera convert'],
    ['create values', 'Values document'],
  ])('%s exists elsewhere: %s', async (written, advice) => {
    const { exitCode, stderr } = await kymera(written.split(' '));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`\n  hint: `);
    expect(stderr).toContain(advice);
  });
});

/** The flags of Kyverno 1.19 and kustomize 5, without --help. */
const theirs: Readonly<Record<string, string>> = {
  apply:
    '--audit-warn --batch-size --cluster -c --cluster-wide-resources --concurrent --context --context-file --continue-on-error --continue-on-fail --crd-paths --detailed-results --envoy-payload --exception -e --exceptions --exceptions-with-resources --exceptions-within-policies --exceptions-within-resources --generate-exceptions --generated-exception-ttl --git-branch -b --http-payload --json --kubeconfig --namespace -n --output -o --output-format --parameter-resource --password --policy-report -p --registry --remove-color --resource -r --resources --set -s --show-performance --stdin -i --table -t --target-resource --target-resources --userinfo -u --username --values-file -f --warn-exit-code --warn-no-pass --warnings-as-errors -v --v --vmodule --logtostderr',
  test: '--detailed-results --fail-only --file-name -f --git-branch -b --output-format -o --registry --remove-color --require-tests --test-case-selector -t --warnings-as-errors --kubeconfig -v --log_file',
  'jp query': '--compact -c --input -i --query -q --unquoted -u --kubeconfig',
  'jp parse': '--file -f --v',
  'jp function': '-v',
  'create test': '--fail --name -n --output -o --pass --policy -p --resource -r --skip --values -f',
  'create exception': '--all --any --background -b --namespace --output -o --policy-rules',
  build:
    '--as-current-user --enable-alpha-plugins --enable-exec --enable-helm --env -e --helm-api-versions --helm-command --helm-debug --helm-kube-version --load-restrictor --mount --network --network-name --output -o --stack-trace',
};

/** Missing options are reported before unknown ones. */
const required: Readonly<Record<string, readonly string[]>> = {
  'create test': ['-r', 'x'],
  'create exception': ['-n', 'x'],
};

describe.each(Object.entries(theirs))('a flag of another program: %s', (command, flags) => {
  it.each(flags.split(' '))('%s works, or the message says what to use instead', async (flag) => {
    const { stderr } = await kymera([...command.split(' '), ...(required[command] ?? []), flag, 'x']);
    if (stderr.includes(`unknown option '${flag}'`)) expect(stderr).toMatch(/\n {2}hint: .{5}/);
  });
});

test('there is advice only for flags that do not exist here', async () => {
  const existing: string[] = [];
  for (const [command, flags] of Object.entries(foreignFlags)) {
    for (const name of Object.keys(flags)) {
      const flag = name.length === 1 ? `-${name}` : `--${name}`;
      const { stderr } = await kymera([...command.split(' '), ...(required[command] ?? []), flag, 'x']);
      if (!stderr.includes(`unknown option '${flag}'`)) existing.push(`${command} ${flag}`);
    }
  }
  expect(existing).toEqual([]);
});

test('an unknown option without a hint has a suggestion or nothing', async () => {
  expect((await kymera(['apply', '--resorce'])).stderr).toContain('(Did you mean --resource?)');
  expect((await kymera(['apply', '--constructor'])).stderr).toBe("error: unknown option '--constructor'\n");
});

describe('one name for formats and one for paths', () => {
  it('-o is a format and --output a path; only build and create use -o for a path', async () => {
    const nowhere = { isTTY: false, write: () => {} };
    const io = { stdin: (async function* () {})(), stdout: nowhere, stderr: nowhere, cwd: '.', env: {} };
    const wrong = allCommands(modelOf(await createProgram(io, () => {}))).flatMap(({ path, options }) =>
      options.flatMap(({ text, flags }) => {
        const isPath = path[0] === 'build' || path[0] === 'create';
        if (flags.includes('-o')) {
          return /^-o, --(?:format <format>|output <(?:path|file|folder)>)$/.test(text) &&
            text.startsWith('-o, --output') === isPath
            ? []
            : [`${path.join(' ')} ${text}`];
        }
        return flags.includes('--output') && text !== '--output <path>' ? [`${path.join(' ')} ${text}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });

  const files = {
    'p.yaml':
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [Pod]}}]}\n    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}\n',
    'pod.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n',
    'kyverno-test.yaml':
      'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [p.yaml]\nresources: [pod.yaml]\nresults:\n- {policy: p, rule: r, resources: [web], kind: Pod, result: pass}\n',
  };
  it.each([
    ['explain p.yaml -r pod.yaml', '--output', 'json'],
    ['validate p.yaml', '--output', 'sarif'],
    ['convert p.yaml', '--output', 'yaml'],
    ['migrate check p.yaml', '--output', 'json'],
    ['test .', '--output-format', 'json'],
  ])('%s accepts %s as before', async (command, former, format) => {
    const run = (...more: string[]) => kymera([...command.split(' '), ...more], { files });
    const now = await run('--format', format);
    expect(now.exitCode).toBe(0);
    expect((await run('-o', format)).stdout).toBe(now.stdout);
    expect((await run(former, format)).stdout).toBe(now.stdout);
    expect((await run()).stdout).not.toBe(now.stdout);
    expect((await run('--help')).stdout).not.toContain(former);
    expect((await run(former, 'nonsense')).exitCode).toBe(2);
  });
});

describe('help', () => {
  it.each([60, 72, 100])('is wrapped at a terminal of %i columns', async (columns) => {
    for (const command of [
      [],
      ['apply'],
      ['serve'],
      ['validate'],
      ['migrate', 'check'],
      ['existing', 'plan'],
    ]) {
      const { stdout } = await kymera([...command, '--help'], { isTTY: true, columns });
      // A command stays on one line, so that it can be copied; a long word cannot be broken.
      const long = stdout
        .split('\n')
        .filter((line) => line.length > columns && !line.includes('$ ') && line.trim().includes(' '));
      expect(long.filter((line) => !/[^\s]{30}/.test(line))).toEqual([]);
    }
  });

  it('keeps all words', () => {
    const text =
      'One paragraph\nof two lines.\n\nExamples:\n  $ kymera apply p.yaml   explains a lot of things here\n';
    const words = (all: string) => all.split(/\s+/);
    for (const width of [20, 40, 200]) expect(words(wrapHelp(text, width))).toEqual(words(text));
    expect(wrapHelp(text, 200)).toContain('One paragraph of two lines.\n');
    expect(wrapHelp(text, 30)).toContain(
      '  $ kymera apply p.yaml\n      explains a lot of things\n      here\n',
    );
  });

  it('does not list an environment variable for --help', async () => {
    const { stdout } = await kymera(['serve', '--help']);
    expect(stdout).toContain('KYMERA_SERVE_');
    expect(stdout).not.toMatch(/KYMERA_SERVE_\s*HELP/);
  });
});

describe('kymera errors', () => {
  it.each(['KYM_USAGE', 'kym_usage', '[KYM_USAGE]', 'usage'])(
    '%s prints the page of the code',
    async (code) => {
      const { stdout, exitCode } = await kymera(['errors', code]);
      expect(exitCode).toBe(0);
      const { cause, cure } = errorTable.KYM_USAGE;
      expect(stdout).toBe(`KYM_USAGE\n\n${cause}\n\nFix: ${cure}\n`);
    },
  );

  it('lists all codes', async () => {
    const { stdout } = await kymera(['errors']);
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
      ...Object.keys(errorTable).sort(),
      '',
    ]);
  });

  it.each(Object.values(differenceSections))('prints the topic of a difference: %s', async (section) => {
    const topic = section.replace(/^-+/, '');
    const { stdout, exitCode } = await kymera(['errors', topic]);
    expect(exitCode).toBe(0);
    expect(headingAnchor(/^#+ (.*)\n/.exec(stdout)?.[1] ?? '').replace(/^-+/, '')).toBe(topic);
    expect(stdout.length).toBeGreaterThan(80);
  });

  it('is what hints name', async () => {
    const policy =
      'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [ConfigMap]}}]}\n    mutate: {foreach: [{list: "[`1`]", as: one, patchStrategicMerge: {data: {k: v}}}]}\n';
    const { stdout } = await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': policy } });
    expect(stdout).toContain('See: kymera errors as-in-foreach');
  });

  it('suggests a code', async () => {
    const { stderr, exitCode } = await kymera(['errors', 'KYM_VARIABLE_UNRESOLVD']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('did you mean KYM_VARIABLE_UNRESOLVED?');
  });
});
