import { parseRfc3339 } from '../../expression/go/time.ts';
import { namePatterns } from '../../expression/object-name.ts';
import { type Library, overload } from '../types/environment.ts';
import { Opaque, Optional } from '../value/value.ts';
import { parseUrl } from './url.ts';

/** The messages of all violations; none when the text has the format. */
type Validate = (text: string) => readonly string[];

/** Kubernetes' message for a regular expression that does not match. */
function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  const quoted = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${quoted}regex used for validation is '${pattern}')`;
}

interface NameRule {
  readonly pattern: string;
  readonly longest: number;
  readonly message: string;
  /** What the message about the length counts. */
  readonly unit?: string | undefined;
}

function nameRule(
  pattern: string,
  longest: number,
  message: string,
  ...examples: readonly string[]
): NameRule {
  return { pattern, longest, message: regexError(message, pattern, ...examples) };
}

function validateName({ pattern, longest, message, unit = 'characters' }: NameRule): Validate {
  const syntax = new RegExp(`^(?:${pattern})$`);
  return (text) => [
    ...(text.length > longest ? [`must be no more than ${longest} ${unit}`] : []),
    ...(syntax.test(text) ? [] : [message]),
  ];
}

const dns1123Label = nameRule(
  namePatterns.label,
  63,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  'my-name',
  '123-abc',
);
const dns1123Subdomain = nameRule(
  namePatterns.subdomain,
  253,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  'example.com',
);
const dns1035Label = nameRule(
  namePatterns.dns1035Label,
  63,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  'my-name',
  'abc-123',
);
const qualifiedPart = nameRule(
  namePatterns.qualified,
  63,
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  'MyName',
  'my.name',
  '123-abc',
);
const labelValue = nameRule(
  namePatterns.labelValue,
  63,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  'MyValue',
  'my_value',
  '12345',
);

/** A name with dots, which would be a subdomain, has a message of its own. */
function validateDns1123Label(text: string): readonly string[] {
  const problems = validateName(dns1123Label)(text);
  const isSubdomain =
    text.includes('.') && validateName({ ...dns1123Subdomain, longest: text.length })(text).length === 0;
  return isSubdomain ? [...problems.slice(0, -1), 'must not contain dots'] : problems;
}

/** A prefix of a name may end with a dash. */
function asPrefix(validate: Validate): Validate {
  return (text) => validate(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);
}

function validateQualifiedName(text: string): readonly string[] {
  const parts = text.split('/');
  const [prefix = '', name = ''] = parts.length === 1 ? [undefined, text] : parts;
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedPart.message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  if (parts.length === 2) {
    const found = prefix === '' ? ['must be non-empty'] : validateName(dns1123Subdomain)(prefix);
    problems.push(...found.map((problem) => `prefix part ${problem}`));
  }
  const found = [
    ...(name === '' ? ['must be non-empty'] : []),
    ...validateName({ ...qualifiedPart, unit: 'bytes' })(name),
  ];
  return [...problems, ...found.map((problem) => `name part ${problem}`)];
}

function matching(holds: (text: string) => boolean, message: string): Validate {
  return (text) => (holds(text) ? [] : [message]);
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

function isTime(text: string): boolean {
  try {
    parseRfc3339(text);
    return true;
  } catch {
    return false;
  }
}

function validateUri(text: string): readonly string[] {
  const parsed = parseUrl(text);
  return typeof parsed === 'string' ? [`parse ${JSON.stringify(text)}: ${parsed}`] : [];
}

const formats: ReadonlyMap<string, Validate> = new Map<string, Validate>([
  ['dns1123Label', validateDns1123Label],
  ['dns1123Subdomain', validateName(dns1123Subdomain)],
  ['dns1035Label', validateName(dns1035Label)],
  ['qualifiedName', validateQualifiedName],
  ['dns1123LabelPrefix', asPrefix(validateDns1123Label)],
  ['dns1123SubdomainPrefix', asPrefix(validateName(dns1123Subdomain))],
  ['dns1035LabelPrefix', asPrefix(validateName(dns1035Label))],
  ['labelValue', validateName({ ...labelValue, unit: 'bytes' })],
  ['uri', validateUri],
  ['uuid', matching((text) => uuid.test(text), 'does not match the UUID format')],
  ['byte', matching((text) => base64.test(text), 'invalid base64')],
  ['date', matching((text) => isTime(`${text}T00:00:00Z`), 'invalid date')],
  [
    'datetime',
    matching((text) => isTime(text.replace(/^(.{10})t/, '$1T').replace(/z$/, 'Z')), 'invalid datetime'),
  ],
]);

const typeName = 'kubernetes.NamedFormat';
const type = `struct ${typeName}`;

function formatValue(name: string, validate: Validate): Opaque<Validate> {
  return new Opaque(typeName, validate, name);
}

function named(name: string): Optional {
  const validate = formats.get(name);
  return validate === undefined ? Optional.none : new Optional(formatValue(name, validate));
}

export const formatLibrary: Library = {
  functions: [
    ...Array.from(formats, ([name, validate]) =>
      overload(`format.${name}`, `() -> ${type}`, () => formatValue(name, validate)),
    ),
    overload('format.named', `(string) -> optional(${type})`, named),
    overload(
      'validate',
      `${type}.(string) -> optional(list(string))`,
      ({ data }: Opaque<Validate>, text: string) => {
        const problems = data(text);
        return problems.length === 0 ? Optional.none : new Optional(problems);
      },
    ),
  ],
};
