import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { inputError } from '../../problem.ts';
import { keepSelfSigned } from '../../server/certificate-folder.ts';
import type { Log } from '../../server/log.ts';
import type { ServingCertificate } from '../../server/tls.ts';
import type { Io } from '../io.ts';
import { type ServeOptions, servedNames, stateFolder } from './options.ts';
import { type FileWatch, watchFiles } from './watch.ts';

export interface ServeCertificate extends ServingCertificate {
  /** The CA that callers must trust. */
  readonly ca: { readonly pem: string; readonly file: string };
}

/** The certificate of the user, or a self-signed one that is kept in the state folder. */
export async function loadCertificate(options: ServeOptions, io: Io): Promise<ServeCertificate> {
  const { tlsCert, tlsKey } = options;
  if (tlsCert !== undefined && tlsKey !== undefined) {
    const file = options.caBundle ?? tlsCert;
    const pair = await readPair(tlsCert, tlsKey, io);
    return { ...pair, ca: { pem: await readPem(file, io), file: resolve(io.cwd, file) } };
  }
  const folder = stateFolder(options, io);
  try {
    const { ca, cert, key } = await keepSelfSigned(folder, servedNames(options));
    return { cert, key, ca: { pem: ca, file: join(folder, 'ca.crt') } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_FILE_NOT_WRITTEN', `the certificate cannot be stored in ${folder}: ${reason}`, {
      hint: 'choose another folder with --state-dir',
    });
  }
}

export async function readPem(file: string, io: Io): Promise<string> {
  return readFile(resolve(io.cwd, file), 'utf8').catch(() => {
    throw inputError('KYM_INPUT_UNREADABLE', `the file ${file} cannot be read`, { file });
  });
}

interface CertificateWatching {
  readonly io: Io;
  readonly log: Log;
  /** Polling interval of files, in ms. */
  readonly interval: number;
  /** Interval of the renewal check, in ms. */
  readonly renewalInterval?: number | undefined;
}

const twiceADay = 12 * 3_600_000;

/** Renews the self-signed certificate before it expires and calls `changed` with the new one. */
export function renewSelfSigned(
  options: ServeOptions,
  served: ServingCertificate,
  { io, log, renewalInterval = twiceADay }: CertificateWatching,
  changed: (certificate: ServingCertificate) => void,
  now = () => new Date(),
): FileWatch {
  let current = served.cert;
  const look = async () => {
    try {
      const { cert, key } = await keepSelfSigned(stateFolder(options, io), servedNames(options), now());
      if (cert === current) return;
      current = cert;
      changed({ cert, key });
      log.info({}, 'certificate renewed');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error({ reason }, 'the certificate cannot be renewed; the old one is kept');
    }
  };
  let timer: NodeJS.Timeout;
  const wait = () => {
    timer = setTimeout(() => void look().then(wait), renewalInterval).unref();
  };
  wait();
  return { stop: () => clearTimeout(timer) };
}

/** A file that belongs to a certificate and must be handled before it. */
interface Companion {
  readonly file: string;
  readonly changed: () => Promise<void>;
}

/** Calls `changed` when the files of the certificate contain a new valid one. */
export async function watchCertificate(
  options: ServeOptions,
  { io, log, interval }: CertificateWatching,
  changed: (certificate: ServingCertificate) => void,
  companion?: Companion,
): Promise<FileWatch | undefined> {
  const { tlsCert, tlsKey } = options;
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const reload = async () => {
    await companion?.changed();
    try {
      changed(await readPair(tlsCert, tlsKey, io));
      log.info({ file: tlsCert }, 'certificate reloaded');
    } catch {
      log.error({ file: tlsCert }, 'the new certificate is invalid; the old one is kept');
    }
  };
  const files = [tlsCert, tlsKey, ...(companion === undefined ? [] : [companion.file])];
  return watchFiles(files, io.cwd, reload, interval);
}

async function readPair(certFile: string, keyFile: string, io: Io): Promise<ServingCertificate> {
  const [cert, key] = await Promise.all([readPem(certFile, io), readPem(keyFile, io)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_CERTIFICATE', `the certificate or its key is invalid: ${reason}`, {
      file: certFile,
    });
  }
  return { cert, key };
}
