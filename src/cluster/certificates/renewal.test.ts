import { describe, expect, it } from 'vitest';
import { certificatesOf, issueAuthority, issueServing } from './issuer.ts';
import { planRenewal, renew, trustedPem } from './renewal.ts';

const start = new Date('2026-01-01T00:00:00Z');
const daysLater = (days: number) => new Date(start.getTime() + days * 86_400_000);
const names = ['kymera.kymera-system.svc', '127.0.0.1'];
const both = { renewAuthority: true, renewServing: true };
const nothing = { renewAuthority: false, renewServing: false };
const fresh = await renew({}, both, names, start);

describe('certificates', () => {
  it('are made when there are none', () => {
    expect(planRenewal({}, names, start)).toEqual(both);
  });

  it('are kept while they are young', () => {
    expect(planRenewal(fresh, names, daysLater(99))).toEqual(nothing);
  });

  it('serve with a new one at two thirds of its life', () => {
    expect(planRenewal(fresh, names, daysLater(101))).toEqual({ renewAuthority: false, renewServing: true });
  });

  it('are renewed for a name that they do not cover', () => {
    expect(planRenewal(fresh, [...names, 'other.example.com'], start).renewServing).toBe(true);
  });

  it('are renewed when the authority changed', async () => {
    const authority = await issueAuthority({ now: start, days: 365 });
    expect(planRenewal({ ...fresh, authority }, names, start)).toEqual({
      renewAuthority: false,
      renewServing: true,
    });
  });

  it('are renewed when they cannot be read', () => {
    expect(
      planRenewal({ authority: { cert: 'x', key: 'y' }, serving: { cert: '', key: '' } }, names, start),
    ).toEqual(both);
  });
});

// Served by a certificate that is young while the authority is due.
const young = {
  authority: fresh.authority,
  serving: await issueServing(fresh.authority, names, { now: daysLater(240), days: 150 }),
};
const plan = planRenewal(young, names, daysLater(250));
const overlapping = await renew(young, plan, names, daysLater(250));

describe('a new authority', () => {
  it('is made at two thirds of its life, and signs nothing yet', () => {
    expect(plan).toEqual({ renewAuthority: true, renewServing: false });
  });

  it('is trusted beside the old one, so that both certificates are', () => {
    expect(certificatesOf(overlapping.authority.cert)).toHaveLength(2);
    expect(planRenewal(overlapping, names, daysLater(251))).toEqual(nothing);
  });

  it('signs the next serving certificate', async () => {
    const now = daysLater(341);
    const next = await renew(overlapping, planRenewal(overlapping, names, now), names, now);
    const [certificate] = certificatesOf(next.serving.cert);
    const [newest] = certificatesOf(next.authority.cert);
    expect(newest && certificate?.checkIssued(newest)).toBe(true);
  });

  it('takes the place of one whose Secret was deleted, and the serving certificate stays trusted', async () => {
    const state = { serving: fresh.serving, trusted: fresh.authority.cert };
    const found = planRenewal(state, names, daysLater(1));
    expect(found).toEqual({ renewAuthority: true, renewServing: false });
    const next = await renew(state, found, names, daysLater(1));
    expect(next.serving).toEqual(fresh.serving);
    expect(certificatesOf(next.authority.cert)).toHaveLength(2);
    expect(planRenewal(next, names, daysLater(2))).toEqual(nothing);
  });

  it('stays alone when the old one has ended', () => {
    expect(certificatesOf(trustedPem(overlapping.authority.cert, daysLater(366)))).toHaveLength(1);
  });
});
