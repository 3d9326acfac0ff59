import { isIdentifier } from '../../cel/syntax/parser.ts';
import { isQualifiedName } from '../../expression/object-name.ts';
import { readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';

interface NamedList {
  readonly field: string;
  readonly key: string;
  readonly most: number;
  isValid(name: string): boolean;
}

const lists: readonly NamedList[] = [
  { field: 'matchConditions', key: 'name', most: 64, isValid: isQualifiedName },
  { field: 'targetMatchConditions', key: 'name', most: 64, isValid: isQualifiedName },
  { field: 'variables', key: 'name', most: 500, isValid: (name) => /^[A-Za-z_]\w*$/.test(name) },
  { field: 'auditAnnotations', key: 'key', most: 100, isValid: (name) => name !== '' },
];

/**
 * Names of entries are unique and of the form that Kubernetes wants. Kyverno takes other names of conditions too; the API server takes a
 * variable twice, and uses the last one.
 */
export function checkNames(spec: JsonObject, reporter: Reporter, severity: 'error' | 'warn' = 'error'): void {
  for (const { field, key, most, isValid } of lists) {
    const entries = readObjects(spec, field);
    if (entries.length > most) {
      reporter.error(
        ['spec', field],
        'KYM_FIELD_VALUE',
        `${field} has more than ${most} entries`,
        'Join some of them.',
      );
    }
    const seen = new Set<string>();
    entries.forEach((entry, index) => {
      const name = readText(entry, key) ?? '';
      const path: Path = ['spec', field, index, key];
      if (field === 'variables' && severity === 'error' && isValid(name) && !isIdentifier(name)) {
        const message = `${name} is a reserved word of CEL, which the API server does not take as a name`;
        reporter.error(path, 'KYM_FIELD_VALUE', message, 'Rename the variable.');
      } else if (!isValid(name)) {
        reporter[field === 'variables' ? 'error' : severity](
          path,
          'KYM_FIELD_VALUE',
          `${JSON.stringify(name)} is not a valid name`,
          'Use letters, digits, - and _.',
        );
      } else if (seen.has(name)) {
        reporter[severity === 'error' && field === 'variables' ? 'warn' : 'error'](
          path,
          'KYM_FIELD_CONFLICT',
          `the name ${name} is used twice`,
          'Rename one of the entries.',
        );
      }
      seen.add(name);
    });
  }
}
