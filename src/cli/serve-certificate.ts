import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { keepSelfSigned } from '../server/certificate-folder.ts';
import type { Log } from '../server/review-log.ts';
import type { ServingCertificate } from '../server/tls.ts';
import { inputError } from './input-error.ts';
import type { Io } from './io.ts';
import { type ServeOptions, servedNames, stateFolder } from './serve-options.ts';
import { type FileWatch, watchFiles } from './serve-watch.ts';

export interface ServeCertificate extends ServingCertificate {
  /** What callers are to trust, when it is not theirs already. */
  readonly ca?: { readonly pem: string; readonly file: string };
}

/** The user's own certificate, or one made here and kept. */
export async function loadCertificate(options: ServeOptions, io: Io): Promise<ServeCertificate> {
  const { tlsCert, tlsKey } = options;
  if (tlsCert !== undefined && tlsKey !== undefined) return readPair(tlsCert, tlsKey, io);
  const folder = stateFolder(options, io);
  try {
    const { ca, cert, key } = await keepSelfSigned(folder, servedNames(options));
    return { cert, key, ca: { pem: ca, file: join(folder, 'ca.crt') } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_FILE_NOT_WRITTEN', `the certificate cannot be kept in ${folder}: ${reason}`, {
      hint: 'name another folder with --state-dir',
    });
  }
}

export async function readPem(file: string, io: Io): Promise<string> {
  return readFile(resolve(io.cwd, file), 'utf8').catch(() => {
    throw inputError('KYM_INPUT_UNREADABLE', `the file ${file} cannot be read`, { file });
  });
}

/** Calls back with the user's certificate whenever its files hold another that can be used. */
export async function watchCertificate(
  options: ServeOptions,
  { io, log, interval }: { readonly io: Io; readonly log: Log; readonly interval: number },
  changed: (certificate: ServingCertificate) => void,
): Promise<FileWatch | undefined> {
  const { tlsCert, tlsKey } = options;
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const reload = async () => {
    try {
      changed(await readPair(tlsCert, tlsKey, io));
      log.info({ file: tlsCert }, 'certificate reloaded');
    } catch {
      log.error({ file: tlsCert }, 'the new certificate cannot be used; the old one stays');
    }
  };
  return watchFiles([tlsCert, tlsKey], io.cwd, reload, interval);
}

async function readPair(certFile: string, keyFile: string, io: Io): Promise<ServingCertificate> {
  const [cert, key] = await Promise.all([readPem(certFile, io), readPem(keyFile, io)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_CERTIFICATE', `the certificate and its key cannot be used: ${reason}`, {
      file: certFile,
    });
  }
  return { cert, key };
}
