import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepSelfSigned } from '../../src/server/certificate-folder.ts';

const names = ['localhost', '127.0.0.1', '::1', 'kymera.kymera.svc'];
const newFolder = () => join(mkdtempSync(join(tmpdir(), 'kymera-state-')), 'state');
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

describe('the self-signed certificate', () => {
  it('names every host and address, is signed by its own authority, and uses ECDSA P-256', async () => {
    const { ca, cert } = await keepSelfSigned(newFolder(), names);
    const certificate = new X509Certificate(cert);
    const authority = new X509Certificate(ca);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkIssued(authority)).toBe(true);
    expect([authority.ca, certificate.ca]).toEqual([true, false]);
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    for (const name of ['localhost', 'kymera.kymera.svc']) expect(certificate.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1']) expect(certificate.checkIP(address)).toBe(address);
    expect(certificate.checkHost('example.com')).toBeUndefined();
  });

  it('is kept, readable by its owner only', async () => {
    const folder = newFolder();
    const first = await keepSelfSigned(folder, names);
    expect(await keepSelfSigned(folder, names)).toEqual(first);
    for (const name of ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'])
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, 'tls.key'), 'utf8')).toBe(first.key);
  });

  it.each([
    ['with two thirds of its life over', [...names], inDays(250)],
    ['when a name is new', [...names, 'other.example'], new Date()],
  ])('is made anew %s', async (_when, wanted, now) => {
    const folder = newFolder();
    const first = await keepSelfSigned(folder, names);
    const second = await keepSelfSigned(folder, wanted, now);
    expect(second.cert).not.toBe(first.cert);
    // Whoever trusted the one before trusts this one.
    expect(second.ca).toBe(first.ca);
    expect(new X509Certificate(second.cert).verify(new X509Certificate(first.ca).publicKey)).toBe(true);
  });

  it('has a new authority before the old one ends', async () => {
    const folder = newFolder();
    const first = await keepSelfSigned(folder, names);
    expect((await keepSelfSigned(folder, names, inDays(3200))).ca).toBe(first.ca);
    expect((await keepSelfSigned(folder, names, inDays(3400))).ca).not.toBe(first.ca);
  });

  it('is renewed when its key belongs to another certificate', async () => {
    const folder = newFolder();
    const first = await keepSelfSigned(folder, names);
    const other = await keepSelfSigned(newFolder(), names);
    writeFileSync(join(folder, 'tls.key'), other.key);
    const second = await keepSelfSigned(folder, names);
    expect(second.cert).not.toBe(first.cert);
    expect(second.ca).toBe(first.ca);
  });

  it('is renewed when the files of the folder are invalid', async () => {
    const folder = newFolder();
    await keepSelfSigned(folder, names);
    writeFileSync(join(folder, 'tls.crt'), 'rubbish');
    expect((await keepSelfSigned(folder, names)).cert).toContain('BEGIN CERTIFICATE');
  });
});
