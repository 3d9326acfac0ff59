/** A path in a test document, which is relative to the folder of the document. */
export function pathNear(testFile: string, path: string): string {
  if (path.startsWith('/')) return path;
  const parts: string[] = [];
  for (const part of [...testFile.split('/').slice(0, -1), ...path.split('/')]) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..' && parts.at(-1) !== '') parts.pop();
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part);
  }
  return parts.join('/') || '.';
}
