import { visible, visibleSource } from '../../offline/output/visible.ts';
import { differenceText, statusText } from './proof-text.ts';
import type { ConvertedFile, ConvertedPolicy } from './to-cel.ts';

interface Section {
  readonly title: string;
  readonly policies: readonly ConvertedPolicy[];
}

function sectionsOf(files: readonly ConvertedFile[]): readonly Section[] {
  const policies = files.flatMap((file) => file.policies);
  const having = (status: ConvertedPolicy['checked']['status']) =>
    policies.filter(({ checked }) => checked.status === status);
  return [
    { title: 'Converted and proven', policies: having('proven') },
    { title: 'Converted, targets not proven', policies: having('unproven') },
    { title: 'Converted with differences', policies: having('differs') },
    { title: 'Not convertible', policies: having('refused') },
  ];
}

function titleOf(kind: string): string {
  return `Conversion to ${kind}`;
}

/** The texts of a policy that both pages show. */
function detailsOf(policy: ConvertedPolicy) {
  const { checked, problems } = policy;
  const difference = checked.proof?.difference;
  return {
    status: statusText(policy),
    reasons: problems.map(({ rule, message, line }) =>
      visible(`line ${line ?? policy.line}${rule === undefined ? '' : `, rule ${rule}`}: ${message}`),
    ),
    difference: difference && visibleLines(differenceText(difference)),
    result: checked.conversion.documents.map(({ text }) => visibleLines(text)).join('---\n'),
  };
}

function visibleLines(text: string): string {
  return text.split('\n').map(visibleSource).join('\n');
}

/** The report as Markdown. */
export function markdownReport(files: readonly ConvertedFile[], kind: string): string {
  const sections = sectionsOf(files);
  const totals = sections.map(({ title, policies }) => `| ${title} | ${policies.length} |`);
  const body = sections
    .filter(({ policies }) => policies.length > 0)
    .flatMap(({ title, policies }) => [`## ${title}`, '', ...policies.flatMap(markdownPolicy)]);
  return [`# ${titleOf(kind)}`, '', '| policies | count |', '|---|---|', ...totals, '', ...body].join('\n');
}

function markdownPolicy(policy: ConvertedPolicy): readonly string[] {
  const { status, reasons, difference, result } = detailsOf(policy);
  return [
    `### ${markdownText(policy.name)}`,
    '',
    `${markdownText(policy.kind)} in ${markdownText(`${policy.file}:${policy.line}`)}: ${status}.`,
    '',
    ...reasons.map((reason) => `- ${markdownText(reason)}`),
    ...(reasons.length > 0 ? [''] : []),
    ...(difference === undefined ? [] : [...fenced('diff', difference), '']),
    ...(result === '' ? [] : [...fenced('yaml', result), '']),
  ];
}

function markdownText(text: string): string {
  return visible(text).replaceAll(/[\\`*_[\]<>|#&]/g, '\\$&');
}

/** A fence that the text cannot close. */
function fenced(language: string, text: string): readonly string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, text.trimEnd(), fence];
}

/** The report as one HTML page without other files. */
export function htmlReport(files: readonly ConvertedFile[], kind: string): string {
  const sections = sectionsOf(files);
  const totals = sections
    .map(({ title, policies }) => `<tr><th scope="row">${title}</th><td>${policies.length}</td></tr>`)
    .join('');
  const body = sections
    .filter(({ policies }) => policies.length > 0)
    .map(({ title, policies }) => `<h2>${title}</h2>\n${policies.map(htmlPolicy).join('\n')}`)
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${titleOf(kind)}</title>
<style>${styles}</style>
</head>
<body>
<main>
<h1>${titleOf(kind)}</h1>
<table>${totals}</table>
${body}
</main>
</body>
</html>
`;
}

const styles = `
:root{color-scheme:light dark;--line:#d0d7de;--code:#f6f8fa;--good:#1a7f37;--bad:#cf222e;--note:#9a6700}
@media (prefers-color-scheme:dark){:root{--line:#3d444d;--code:#151b23;--good:#3fb950;--bad:#f85149;--note:#d29922}}
body{font:16px/1.5 system-ui,sans-serif;margin:0}
main{max-width:72rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse}
th,td{border:1px solid var(--line);padding:.25rem .75rem;text-align:left;font-weight:normal}
article{border:1px solid var(--line);border-left-width:4px;border-radius:6px;margin:1rem 0;padding:0 1rem 1rem}
article.proven{border-left-color:var(--good)}article.differs{border-left-color:var(--bad)}article.refused,article.unproven{border-left-color:var(--note)}
pre{background:var(--code);border-radius:6px;overflow:auto;padding:.75rem;font:13px/1.45 ui-monospace,monospace}
.added{color:var(--good)}.removed{color:var(--bad)}
`;

function htmlPolicy(policy: ConvertedPolicy): string {
  const { status, reasons, difference, result } = detailsOf(policy);
  const list = reasons.map((reason) => `<li>${escaped(reason)}</li>`).join('');
  return [
    `<article class="${policy.checked.status}">`,
    `<h3>${escaped(visible(policy.name))}</h3>`,
    `<p>${escaped(visible(`${policy.kind} in ${policy.file}:${policy.line}`))}: ${escaped(status)}.</p>`,
    reasons.length === 0 ? '' : `<ul>${list}</ul>`,
    difference === undefined ? '' : `<pre>${difference.split('\n').map(diffLine).join('\n')}</pre>`,
    result === ''
      ? ''
      : `<details><summary>Converted policy</summary><pre>${escaped(result)}</pre></details>`,
    '</article>',
  ].join('');
}

function diffLine(line: string): string {
  if (line.startsWith('+')) return `<span class="added">${escaped(line)}</span>`;
  return line.startsWith('-') ? `<span class="removed">${escaped(line)}</span>` : escaped(line);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
