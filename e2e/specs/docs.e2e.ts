import { spawn } from 'node:child_process';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf, markdownPages, outputShape, root, stepsOf } from '../../test/docs/pages.testing.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { suite } from '../suite.ts';

/** The blocks `console cluster` of the pages: what is typed there, typed here, with a server running. */
suite('docs', ({ settings, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-docs-'));
  let server: ClusterServer;
  before(async () => {
    symlinkSync(settings.kubectl, join(folder, 'kubectl'));
    server = await startClusterServer(settings);
  });
  after(async () => server.uninstall());

  for (const page of markdownPages()) {
    for (const block of blocksOf(page)) {
      const file = block.marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
      if (file !== undefined && !file.includes('/')) writeFileSync(join(folder, file), block.text);
      if (block.language !== 'console' || !block.marks.includes('cluster')) continue;
      it(`${page.path}, line ${block.line}`, async () => {
        for (const [command, output] of stepsOf(block.text)) {
          expect(`$ ${command}\n${await type(command)}`).toMatch(outputShape(`$ ${command}\n${output}`));
        }
      });
    }
  }

  function type(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', `{ ${command}\n} 2>&1`], {
        cwd: folder,
        timeout: 600_000,
        env: {
          ...process.env,
          KUBECONFIG: settings.kubeconfig,
          PATH: [folder, join(root, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
        },
      });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      child.on('error', reject);
      child.on('close', () => resolve(printed));
    });
  }
});
