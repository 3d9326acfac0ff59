import { X509Certificate } from 'node:crypto';
import { inputError } from '../../problem.ts';
import type { Log } from '../../server/log.ts';
import type { Io } from '../io.ts';
import { readPem } from './certificate.ts';
import type { ServeOptions } from './options.ts';

/** The CA bundle that the API server must trust when the user provides the certificate. It can change at run time. */
export interface GivenAuthority {
  readonly file: string;
  /** PEM. Includes the previous bundle, because replicas do not read the new one at the same moment. */
  current(): string;
  /** Reads the file again; true when the bundle changed. */
  refresh(): Promise<boolean>;
}

/** Undefined when the user provides no certificate. Without a CA bundle, the certificate is its own authority. */
export async function readAuthority(
  { tlsCert, caBundle }: ServeOptions,
  { io, log }: { readonly io: Io; readonly log: Log },
): Promise<GivenAuthority | undefined> {
  const file = caBundle ?? tlsCert;
  if (tlsCert === undefined || file === undefined) return undefined;
  let newest = await readCertificates(file, io);
  let before: readonly string[] = [];
  return {
    file,
    current: () => [...new Set([...newest, ...before])].map((pem) => `${pem}\n`).join(''),
    async refresh() {
      const read = await readCertificates(file, io).catch(() => undefined);
      if (read === undefined) log.error({ file }, 'the new CA bundle is invalid; the old one is kept');
      if (read === undefined || read.join() === newest.join()) return false;
      before = newest;
      newest = read;
      return true;
    },
  };
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

async function readCertificates(file: string, io: Io): Promise<readonly string[]> {
  const blocks = (await readPem(file, io)).match(pemBlock) ?? [];
  try {
    if (blocks.length === 0) throw new Error('it contains no certificate');
    for (const block of blocks) new X509Certificate(block);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_CERTIFICATE', `the CA bundle is invalid: ${reason}`, { file });
  }
  return blocks;
}
