// The syntax of names and labels, as the API server checks it.

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

/** Regular expressions as the messages of Kubernetes show them, without anchors. */
export const namePatterns = {
  label,
  subdomain: `${label}(\\.${label})*`,
  dns1035Label: '[a-z]([-a-z0-9]*[a-z0-9])?',
  qualified,
  labelValue: `(${qualified})?`,
} as const;

const subdomain = new RegExp(`^${namePatterns.subdomain}$`);
const qualifiedName = new RegExp(`^${qualified}$`);

/** The name of most objects: lower case letters, digits, - and dots. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && subdomain.test(text);
}

export function isLabelValue(text: string): boolean {
  return text === '' || isQualifiedPart(text);
}

/** `name` or `prefix/name`, such as the key of a label. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  return isQualifiedPart(text.slice(slash + 1)) && (slash < 0 || isSubdomain(text.slice(0, slash)));
}

function isQualifiedPart(text: string): boolean {
  return text.length <= 63 && qualifiedName.test(text);
}
