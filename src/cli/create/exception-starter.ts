import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { matchKinds } from '../../policy/check/match-blocks.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { inputError } from '../../problem.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { loadPolicies } from '../input/policy-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { checkName, writeStarter } from './output.ts';

export interface CreateExceptionOptions {
  readonly namespace: string;
  readonly rule?: readonly string[] | undefined;
  readonly kind?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

interface ExemptRules {
  /** `name`, or `namespace/name`. */
  readonly policy: string;
  readonly rules: readonly string[];
  readonly kinds: readonly string[];
}

/** `kymera create exception`: exempts objects of one namespace from rules. */
export async function createException(
  policy: string,
  options: CreateExceptionOptions,
  io: Io,
): Promise<ExitCode> {
  checkName(options.namespace);
  const exempt = await exemptRules(policy, options, io);
  const name = options.name ?? `${exempt.policy.replace('/', '-')}-exception`;
  checkName(name);
  const document = {
    apiVersion: 'kyverno.io/v2',
    kind: 'PolicyException',
    metadata: { name, namespace: options.namespace },
    spec: {
      match: {
        any: [
          {
            resources: {
              kinds: exempt.kinds,
              namespaces: [options.namespace],
              ...(options.names === undefined ? {} : { names: options.names }),
            },
          },
        ],
      },
      exceptions: [{ policyName: exempt.policy, ruleNames: exempt.rules }],
    },
  };
  await writeStarter(writeYaml(document), options, io);
  return 0;
}

async function exemptRules(policy: string, options: CreateExceptionOptions, io: Io): Promise<ExemptRules> {
  const isFile = (await stat(resolve(io.cwd, policy)).catch(() => undefined)) !== undefined;
  if (isFile) return rulesOfFile(policy, options, io);
  if (/\.(ya?ml|json)$/.test(policy)) {
    throw inputError('KYM_INPUT_NOT_FOUND', `there is no file ${policy}`, { file: policy });
  }
  const { rule: rules, kind: kinds } = options;
  if (rules === undefined || kinds === undefined) {
    const hint = 'or name the file of the policy, which defines its rules and kinds';
    throw inputError('KYM_USAGE', 'the name of a policy requires --rule and --kind', { hint });
  }
  return { policy, rules, kinds };
}

async function rulesOfFile(file: string, options: CreateExceptionOptions, io: Io): Promise<ExemptRules> {
  const { policies } = await loadPolicies([file], io);
  const [policy, ...others] = policies;
  if (policy === undefined || others.length > 0) {
    const found = policies.map(({ key }) => key).join(', ');
    throw inputError('KYM_USAGE', `an exception applies to one policy, but ${file} contains ${found}`, {
      hint: 'name the policy instead of the file',
    });
  }
  const written = policy.rules.filter((rule) => rule.autogenOf === undefined);
  const rules = options.rule ?? written.map(({ name }) => name);
  const chosen = rules.flatMap((name) => findRules(name, policy));
  const kinds = options.kind ?? [...new Set(chosen.flatMap((rule) => matchKinds(rule.document)))];
  return { policy: policy.key, rules: chosen.map(({ name }) => name), kinds };
}

/** The rule and its autogen rules. */
function findRules(name: string, policy: CompiledPolicy): readonly CompiledRule[] {
  const found = policy.rules.filter((rule) => rule.name === name || rule.autogenOf === name);
  if (found.length > 0) return found;
  const known = policy.rules.map((rule) => rule.name).join(', ');
  throw inputError('KYM_USAGE', `the policy ${policy.key} has no mutate rule ${name}; it has ${known}`);
}
