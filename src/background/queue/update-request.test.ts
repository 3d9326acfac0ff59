import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import {
  isOpen,
  type NewUpdateRequest,
  readUpdateRequest,
  statusDocument,
  updateRequestDocument,
  updateRequestName,
  withoutPayload,
} from './update-request.ts';

const base: NewUpdateRequest = {
  type: 'mutate',
  policy: 'team/label-secrets',
  rule: 'label',
  cause: 'admission',
  requestToken: 'request-1',
  trigger: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u-1' },
  operation: 'UPDATE',
  user: {
    info: { username: 'eve', groups: ['dev'], uid: '7', extra: { key: ['x'] } },
    roles: ['shop:edit'],
    clusterRoles: ['view'],
  },
  admission: { uid: 'request-1', name: 'web', oldObject: { kind: 'Deployment' } },
  oldVersion: '41',
};

describe('an UpdateRequest', () => {
  it('has the shape that Kyverno has', () => {
    expect(updateRequestDocument(base, 'kymera')).toEqual({
      apiVersion: 'kyverno.io/v2',
      kind: 'UpdateRequest',
      metadata: {
        name: updateRequestName(base),
        namespace: 'kymera',
        labels: {
          'app.kubernetes.io/managed-by': 'kymera',
          'mutate.updaterequest.kyverno.io/policy-name': 'team-label-secrets',
          'mutate.updaterequest.kyverno.io/trigger-name': 'web',
          'mutate.updaterequest.kyverno.io/trigger-namespace': 'shop',
          'mutate.updaterequest.kyverno.io/trigger-kind': 'Deployment',
          'mutate.updaterequest.kyverno.io/trigger-apiversion': 'apps-v1',
        },
        annotations: {
          'kymera.io/cause': 'admission',
          'kymera.io/request': 'request-1',
          'kymera.io/old-version': '41',
        },
      },
      spec: {
        requestType: 'mutate',
        policy: 'team/label-secrets',
        rule: 'label',
        resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u-1' },
        context: {
          userInfo: {
            roles: ['shop:edit'],
            clusterRoles: ['view'],
            userInfo: { username: 'eve', groups: ['dev'], uid: '7', extra: { key: ['x'] } },
          },
          admissionRequestInfo: { operation: 'UPDATE', admissionRequest: base.admission },
        },
      },
    });
  });

  it('is read as it was written', () => {
    const {
      document: _,
      status,
      createdAt: __,
      name,
      ...read
    } = readUpdateRequest(updateRequestDocument(base, 'kymera'));
    expect(read).toEqual({ ...base, deleteDownstream: false });
    expect(name).toBe(updateRequestName(base));
    expect(status).toEqual({
      state: 'Pending',
      message: '',
      retryCount: 0,
      requestToken: '',
      deadLetter: false,
    });
  });

  it('is one for each policy, rule, trigger and operation', () => {
    const name = updateRequestName(base);
    expect(name).toMatch(/^ur-[0-9a-f]{20}$/);
    expect(updateRequestName({ ...base, requestToken: 'request-2', admission: {} })).toBe(name);
    const others: readonly Partial<NewUpdateRequest>[] = [
      { policy: 'other' },
      { rule: 'other' },
      { operation: 'CREATE' },
      { trigger: { ...base.trigger, uid: 'u-2' } },
    ];
    const names = others.map((other) => updateRequestName({ ...base, ...other }));
    expect(new Set([name, ...names]).size).toBe(5);
  });

  it.each([
    ['a name that is too long', 'x'.repeat(100), 'x'.repeat(63)],
    ['a name that ends in a dot when cut', `${'x'.repeat(62)}.${'y'.repeat(9)}`, 'x'.repeat(62)],
    ['no name', '', ''],
    ['colons', 'system:thing', 'system-thing'],
  ])('has labels that the API server takes: %s', (_, written, label) => {
    const document = updateRequestDocument(
      { ...base, trigger: { ...base.trigger, name: written } },
      'kymera',
    );
    const labels = (document['metadata'] as { labels: JsonObject }).labels;
    expect(labels['mutate.updaterequest.kyverno.io/trigger-name']).toBe(label);
  });

  const ended = (
    state: 'Completed' | 'Skip' | 'Failed' | 'Pending',
    requestToken: string,
    deadLetter = false,
  ) => ({
    ...updateRequestDocument(base, 'kymera'),
    status: statusDocument({ state, message: '', retryCount: 1, requestToken, deadLetter, endedAt: 5_000 }),
  });
  it.each([
    ['new', updateRequestDocument(base, 'kymera'), true],
    ['pending', ended('Pending', ''), true],
    ['done', ended('Completed', 'request-1'), false],
    ['without effect', ended('Skip', 'request-1'), false],
    ['done for an earlier request', ended('Completed', 'request-0'), true],
    ['failed', ended('Failed', 'request-1'), true],
    ['given up', ended('Failed', 'request-1', true), false],
    ['given up, and asked for again', ended('Failed', 'request-0', true), true],
  ])('is open or not: %s', (_, document, open) => {
    expect(isOpen(readUpdateRequest(document))).toBe(open);
  });

  it('loses the objects of the request, and nothing else', () => {
    const document = updateRequestDocument(base, 'kymera');
    const cleared = withoutPayload(document);
    expect(readUpdateRequest(cleared ?? {}).admission).toEqual({ uid: 'request-1', name: 'web' });
    expect(readUpdateRequest(cleared ?? {}).user).toEqual(base.user);
    expect(withoutPayload(cleared ?? {})).toBeUndefined();
  });
});
