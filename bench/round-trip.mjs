// `node bench/round-trip.mjs FILE`: reads a YAML stream and prints it again. A floor for commands that change objects.
import { readFileSync } from 'node:fs';
import { dump, loadAll } from 'js-yaml';

for (const document of loadAll(readFileSync(process.argv[2], 'utf8'))) {
  process.stdout.write(`---\n${dump(document, { noRefs: true })}`);
}
