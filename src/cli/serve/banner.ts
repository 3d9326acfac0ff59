import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutatingConfiguration } from '../../cluster/webhooks/configuration.ts';
import type { Paint } from '../../offline/output/paint.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { assumedKinds } from '../input/assumed-kinds.ts';
import { packageRoot } from '../package-root.ts';

export interface Banner {
  /** `https://127.0.0.1:9443`. */
  readonly url: string;
  readonly policies: readonly CompiledPolicy[];
  /** The CA that callers must trust. */
  readonly ca: { readonly pem: string; readonly file: string };
  /** Callers must present a client certificate. */
  readonly asksForCertificate: boolean;
  /** Whether the page is at `/`. */
  readonly playground: boolean;
  readonly cwd: string;
}

const sampleReview = fileURLToPath(new URL('policies/resources/web-pod-review.json', packageRoot));
const program = fileURLToPath(new URL('bin/kymera', packageRoot));

/** The address, a command to try the server, and the next step. */
export function bannerText(banner: Banner, paint: Paint): string {
  const { url, policies } = banner;
  const count = `${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}`;
  const heading = (text: string) => paint('bold', text);
  return [
    `${heading(`kymera serves ${count} on ${url}/mutate`)}`,
    ...(existsSync(sampleReview) ? ['', heading('Try it:'), '', curlLine(banner)] : []),
    '',
    heading('Next:'),
    '',
    ...(banner.playground ? [`Open the playground: ${url}/`] : []),
    'Change a policy and run the command again: changed files are loaded at once.',
    `With --port ${new URL(url).port} --print-webhook-configuration, the same command prints what registers this server in a cluster.`,
    `Status: ${url}/readyz?verbose, metrics: ${url}/metrics. Stop with Ctrl-C.`,
    '',
  ].join('\n');
}

function curlLine({ url, ca, asksForCertificate, cwd }: Banner): string {
  const own = asksForCertificate ? ' --cert YOUR.crt --key YOUR.key' : '';
  const request = `curl -sS --cacert ${quote(shown(ca.file, cwd))}${own} -H 'Content-Type: application/json' --data-binary @${quote(shown(sampleReview, cwd))} ${url}/mutate`;
  return `${request} | ${quote(shown(program, cwd))} jp query "${decodedPatch}"`;
}

/** A response without a patch shows an empty list. */
const decodedPatch = "parse_json(base64_decode(response.patch || 'W10='))";

/** The configuration that registers the server in a cluster. */
export function webhookText({ url, policies, ca }: Pick<Banner, 'url' | 'policies' | 'ca'>): string {
  const caBundle = Buffer.from(ca.pem).toString('base64');
  const settings = { target: { url, caBundle }, namespace: 'kymera' };
  return writeYaml(mutatingConfiguration(policies, assumedKinds(policies), settings).document);
}

/** Relative to the working folder if the file is inside it. */
function shown(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') ? file : path;
}

function quote(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
