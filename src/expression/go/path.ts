/** Go's `path.Clean`: the shortest equivalent path, computed lexically. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith('/');
  const kept: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    if (step !== '..') kept.push(step);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!rooted) kept.push('..');
  }
  const joined = kept.join('/');
  if (rooted) return `/${joined}`;
  return joined === '' ? '.' : joined;
}
