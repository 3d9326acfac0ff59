import { X509Certificate } from 'node:crypto';
import { inputError } from '../../problem.ts';
import type { Log } from '../../server/log.ts';
import type { Io } from '../io.ts';
import { readPem } from './certificate.ts';
import type { ServeOptions } from './options.ts';

/** What the API server is to trust when the user brings the certificate: may be another after each look. */
export interface GivenAuthority {
  readonly file: string;
  /** PEM; the one before is trusted beside it, since not all replicas find the new one at the same moment. */
  current(): string;
  /** Reads the file again; true when it holds another. */
  refresh(): Promise<boolean>;
}

/** Undefined when the user brings no certificate. Without a bundle of its own a certificate is its own authority. */
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
      if (read === undefined) log.error({ file }, 'the new authority cannot be used; the old one stays');
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
    if (blocks.length === 0) throw new Error('it holds no certificate');
    for (const block of blocks) new X509Certificate(block);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_CERTIFICATE', `the authority cannot be used: ${reason}`, { file });
  }
  return blocks;
}
