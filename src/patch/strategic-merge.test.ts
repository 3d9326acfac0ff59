import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ErrorCode } from '../errors.ts';
import type { Scope } from '../expression/scope.ts';
import type { Json, JsonObject, Path } from '../json/value.ts';
import { PatchError } from './compiled-patch.ts';
import { compileStrategicMerge } from './strategic-merge.ts';

interface Reported {
  readonly path: Path;
  readonly code: ErrorCode;
  readonly message: string;
}

function compile(overlay: Json) {
  const problems: Reported[] = [];
  const reporter = {
    error: (path: Path, code: ErrorCode, message: string) => void problems.push({ path, code, message }),
    warn: () => {},
  };
  return { patch: compileStrategicMerge(overlay, ['mutate', 'patchStrategicMerge'], reporter), problems };
}

function scopeOf(roots: JsonObject): Scope {
  return {
    lookup: (name) => (Object.hasOwn(roots, name) ? roots[name] : undefined),
    snapshot: () => roots,
    environment: { now: () => new Date(0), random: () => 0 },
  };
}

function run(overlay: Json, object: JsonObject, roots: JsonObject = { request: { object } }) {
  const { patch, problems } = compile(overlay);
  if (patch === undefined) throw new Error(JSON.stringify(problems));
  return patch.apply(deepFreeze(object), scopeOf(roots));
}

function apply(overlay: string | Json, object: JsonObject, roots?: JsonObject): JsonObject {
  const result = run(typeof overlay === 'string' ? (parse(overlay) as Json) : overlay, object, roots);
  return result.status === 'patched' ? result.object : object;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

function object(apiVersion: string, kind: string, rest: string): JsonObject {
  return { apiVersion, kind, ...(parse(rest) as JsonObject) };
}

const pod = (rest: string): JsonObject => object('v1', 'Pod', rest);
const podSpec = (spec: string): JsonObject => pod(`{spec: ${spec}}`);
const containers = (list: string): JsonObject => podSpec(`{containers: ${list}}`);
const widget = (rest: string): JsonObject => object('example.org/v1', 'Widget', rest);

describe('condition anchors', () => {
  it.each([
    [
      'patch only the list item they match, in its place',
      "spec: {containers: [{(image): '*:latest', imagePullPolicy: IfNotPresent}]}",
      containers('[{name: a, image: a:1.0}, {name: b, image: b:latest}]'),
      containers('[{name: a, image: a:1.0}, {name: b, image: b:latest, imagePullPolicy: IfNotPresent}]'),
    ],
    [
      'go on with later items after one that does not match',
      "spec: {containers: [{(image): '*:latest', imagePullPolicy: IfNotPresent}]}",
      containers('[{name: a, image: a:latest}, {name: b, image: b:1.0}, {name: c, image: c:latest}]'),
      containers(
        '[{name: a, image: a:latest, imagePullPolicy: IfNotPresent}, {name: b, image: b:1.0}, {name: c, image: c:latest, imagePullPolicy: IfNotPresent}]',
      ),
    ],
    [
      'match every item with *',
      "spec: {containers: [{(name): '*', tty: true}]}",
      containers('[{name: a}, {name: b}, {name: c}]'),
      containers('[{name: a, tty: true}, {name: b, tty: true}, {name: c, tty: true}]'),
    ],
    [
      'drop the whole overlay outside lists when they fail',
      '{spec: {(hostNetwork): true, dnsPolicy: X}, metadata: {labels: {x: y}}}',
      podSpec('{hostNetwork: false}'),
      podSpec('{hostNetwork: false}'),
    ],
    [
      'are not met by a missing key, not even when negated',
      "spec: {(hostNetwork): '!true', dnsPolicy: X}",
      podSpec('{nodeName: n}'),
      podSpec('{nodeName: n}'),
    ],
    [
      'compare null as text, which is not the same as absent',
      'spec: {(hostNetwork): null, dnsPolicy: X}',
      podSpec('{nodeName: n}'),
      podSpec('{nodeName: n}'),
    ],
    [
      'compare scalars as text',
      "spec: {(replicas): '>2', (paused): 'true', x: 1}",
      widget('{spec: {replicas: 3, paused: true}}'),
      widget('{spec: {replicas: 3, paused: true, x: 1}}'),
    ],
    [
      'leave the rest of the overlay alone when their list is missing',
      '{metadata: {labels: {x: y}}, spec: {volumes: [{(name): v, hostPath: {path: /}}]}}',
      podSpec('{nodeName: n}'),
      pod('{metadata: {labels: {x: y}}, spec: {nodeName: n}}'),
    ],
    [
      'are conditions as a whole: nothing of a map value is written',
      'spec: {(securityContext): {runAsUser: 1000}, dnsPolicy: X}',
      podSpec('{securityContext: {runAsUser: 1000, fsGroup: 2}}'),
      podSpec('{securityContext: {runAsUser: 1000, fsGroup: 2}, dnsPolicy: X}'),
    ],
    [
      'do not write a pattern into the object',
      "spec: {(securityContext): {runAsUser: '>100'}, dnsPolicy: X}",
      podSpec('{securityContext: {runAsUser: 1000}}'),
      podSpec('{securityContext: {runAsUser: 1000}, dnsPolicy: X}'),
    ],
    [
      'with a list of plain maps ask every item, and write nothing',
      "spec: {(containers): [{image: 'm*'}], dnsPolicy: X}",
      containers('[{name: a, image: m1}, {name: b, image: m2}]'),
      podSpec('{containers: [{name: a, image: m1}, {name: b, image: m2}], dnsPolicy: X}'),
    ],
    [
      'with a list of plain maps fail when one item does not fit',
      "spec: {(containers): [{image: 'm*'}], dnsPolicy: X}",
      containers('[{name: a, image: m1}, {name: b, image: n2}]'),
      containers('[{name: a, image: m1}, {name: b, image: n2}]'),
    ],
    [
      'with a list of anchored maps ask for one item',
      "spec: {(containers): [{(image): 'm*'}], dnsPolicy: X}",
      containers('[{name: a, image: n1}, {name: b, image: m2}]'),
      podSpec('{containers: [{name: a, image: n1}, {name: b, image: m2}], dnsPolicy: X}'),
    ],
    [
      'with a list of scalars add nothing to it',
      "metadata: {(finalizers): ['a*'], labels: {x: y}}",
      pod('{metadata: {finalizers: [a1]}}'),
      pod('{metadata: {finalizers: [a1], labels: {x: y}}}'),
    ],
    [
      'at the root are taken out whole',
      '{(kind): Pod, (metadata): {(labels): {(app): web}}, spec: {dnsPolicy: X}}',
      pod('{metadata: {labels: {app: web}}, spec: {}}'),
      pod('{metadata: {labels: {app: web}}, spec: {dnsPolicy: X}}'),
    ],
    [
      'at the root leave no literal key behind',
      '{(spec): {a: 1}, metadata: {labels: {x: y}}}',
      widget('{spec: {a: 1}}'),
      widget('{spec: {a: 1}, metadata: {labels: {x: y}}}'),
    ],
    [
      'never rename what they matched',
      "spec: {containers: [{(image): 'n*', name: newname, tty: true}]}",
      containers('[{name: a1, image: nginx}]'),
      containers('[{name: a1, image: nginx, tty: true}]'),
    ],
    [
      'stand beside items to add',
      'spec: {containers: [{(name): a, tty: true}, {name: side, image: s}]}',
      containers('[{name: b}, {name: a}]'),
      containers('[{name: side, image: s}, {name: b}, {name: a, tty: true}]'),
    ],
    [
      'delete what they match',
      "spec: {containers: [{(name): 'b*', $patch: delete}]}",
      containers('[{name: b1}, {name: a}, {name: b2}]'),
      containers('[{name: a}]'),
    ],
    [
      'deeper in an item skip that item only',
      "spec: {containers: [{(name): '*', securityContext: {(privileged): true, runAsUser: 5}}]}",
      containers(
        '[{name: a, securityContext: {privileged: true}}, {name: b}, {name: c, securityContext: {privileged: false}}]',
      ),
      containers(
        '[{name: a, securityContext: {privileged: true, runAsUser: 5}}, {name: b}, {name: c, securityContext: {privileged: false}}]',
      ),
    ],
    [
      'that match nothing add nothing',
      'spec: {containers: [{(name): zzz, tty: true}], initContainers: [{(name): zzz, tty: true}]}',
      containers('[{name: a}]'),
      containers('[{name: a}]'),
    ],
    [
      'create no map around a list they found empty',
      'spec: {affinity: {terms: [{(key): a, value: b}]}}',
      podSpec('{nodeName: n}'),
      podSpec('{nodeName: n}'),
    ],
    [
      'several in one list are independent',
      "spec: {containers: [{(image): 'n*', tty: true}, {(image): 'm*', stdin: true}]}",
      containers('[{name: a, image: n1}, {name: b, image: m1}]'),
      containers('[{name: a, image: n1, tty: true}, {name: b, image: m1, stdin: true}]'),
    ],
    [
      'several in one list, none of which matches, do nothing',
      "spec: {containers: [{(image): 'x*', tty: true}, {(image): 'y*', stdin: true}]}",
      containers('[{name: a, image: n1}]'),
      containers('[{name: a, image: n1}]'),
    ],
    [
      'do not see what another item of the same overlay wrote',
      "spec: {containers: [{(image): 'n1', image: n2}, {(image): 'n2', tty: true}, {(image): n1, stdin: true}]}",
      containers('[{name: a, image: n1}]'),
      containers('[{name: a, image: n2, stdin: true}]'),
    ],
    [
      'do not leak what was decided for one item into the next',
      "spec: {containers: [{(name): '*', env: [{(name): 'X', value: y}]}]}",
      containers('[{name: a, env: [{name: X, value: 1}]}, {name: b, env: [{name: Z}]}]'),
      containers('[{name: a, env: [{name: X, value: y}]}, {name: b, env: [{name: Z}]}]'),
    ],
    [
      'only inside an item try it on every item',
      'spec: {containers: [{env: [{(name): X, value: y}]}]}',
      containers('[{name: a}, {name: b, env: [{name: X}, {name: Y}]}, {name: c, env: [{name: X}]}]'),
      containers(
        '[{name: a}, {name: b, env: [{name: X, value: y}, {name: Y}]}, {name: c, env: [{name: X, value: y}]}]',
      ),
    ],
    [
      'inside an item that states its key concern that item only',
      'spec: {containers: [{name: b, securityContext: {(privileged): true, runAsUser: 5}}]}',
      containers(
        '[{name: a, securityContext: {privileged: true}}, {name: b, securityContext: {privileged: true}}]',
      ),
      containers(
        '[{name: a, securityContext: {privileged: true}}, {name: b, securityContext: {privileged: true, runAsUser: 5}}]',
      ),
    ],
    [
      'inside an item with a key that is not there add nothing',
      'spec: {containers: [{name: new, env: [{(name): X, value: y}]}]}',
      containers('[{name: a}]'),
      containers('[{name: a}]'),
    ],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });

  it('patch items that have no name: Endpoints ports', () => {
    const endpoints = (list: string) => object('v1', 'Endpoints', `{subsets: ${list}}`);
    const before = endpoints(
      '[{addresses: [{ip: 1.1.1.1}], ports: [{name: secure-a, port: 1}, {name: http, port: 2}]}, {ports: [{name: securex, port: 3}]}]',
    );
    expect(apply("subsets: [{ports: [{(name): 'secure*', port: 6443}]}]", before)).toEqual(
      endpoints(
        '[{addresses: [{ip: 1.1.1.1}], ports: [{name: secure-a, port: 6443}, {name: http, port: 2}]}, {ports: [{name: securex, port: 6443}]}]',
      ),
    );
  });

  it.each([
    [
      'tolerations, which are replaced otherwise',
      "spec: {tolerations: [{(key): 'gpu', effect: NoExecute}]}",
      podSpec('{tolerations: [{key: a, effect: NoSchedule}, {key: gpu, effect: NoSchedule}]}'),
      podSpec('{tolerations: [{key: a, effect: NoSchedule}, {key: gpu, effect: NoExecute}]}'),
    ],
    [
      'Ingress rules',
      "spec: {rules: [{(host): '*.old', http: {paths: [{(path): /, pathType: Exact}]}}]}",
      object(
        'networking.k8s.io/v1',
        'Ingress',
        '{spec: {rules: [{host: x.old, http: {paths: [{path: /, pathType: Prefix}, {path: /b}]}}, {host: y.new, http: {paths: [{path: /}]}}]}}',
      ),
      object(
        'networking.k8s.io/v1',
        'Ingress',
        '{spec: {rules: [{host: x.old, http: {paths: [{path: /, pathType: Exact}, {path: /b}]}}, {host: y.new, http: {paths: [{path: /}]}}]}}',
      ),
    ],
    [
      'lists of custom resources, with all their other fields kept',
      "spec: {things: [{(name): 'a*', v: 2}]}",
      widget('{spec: {things: [{name: b, v: 1, w: 1}, {name: a1, v: 1, w: 2}]}}'),
      widget('{spec: {things: [{name: b, v: 1, w: 1}, {name: a1, v: 2, w: 2}]}}'),
    ],
    [
      'with a plain item beside them, which goes in front once',
      'spec: {things: [{(name): a, v: 2}, {name: b}]}',
      widget('{spec: {things: [{name: a}, {name: c}]}}'),
      widget('{spec: {things: [{name: b}, {name: a, v: 2}, {name: c}]}}'),
    ],
    [
      'with a plain item beside them that is there already',
      'spec: {things: [{(name): a, v: 2}, {name: b}]}',
      widget('{spec: {things: [{name: a, v: 2}, {name: b}]}}'),
      widget('{spec: {things: [{name: a, v: 2}, {name: b}]}}'),
    ],
  ])('patch items in place: %s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});

describe('global anchors', () => {
  const secrets = "spec: {containers: [{<(image): 'corp/*'}], imagePullSecrets: [{name: s}]}";
  const refresh =
    'spec: {template: {metadata: {annotations: {r: new}}, spec: {containers: [{env: [{valueFrom: {secretKeyRef: {<(name): S}}}]}]}}}';
  const deployment = (list: string) =>
    object('apps/v1', 'Deployment', `{spec: {template: {spec: {containers: ${list}}}}}`);
  it.each([
    [
      'apply the rest when one item of a list satisfies them',
      secrets,
      podSpec('{containers: [{name: a, image: x}, {name: b, image: corp/y}], imagePullSecrets: [{name: r}]}'),
      podSpec(
        '{containers: [{name: a, image: x}, {name: b, image: corp/y}], imagePullSecrets: [{name: s}, {name: r}]}',
      ),
    ],
    [
      'drop everything when no item does',
      secrets,
      containers('[{name: a, image: x}, {name: b, image: y}]'),
      containers('[{name: a, image: x}, {name: b, image: y}]'),
    ],
    [
      'drop everything when the list is missing',
      '{metadata: {annotations: {+(x): y}}, spec: {volumes: [{<(emptyDir): {}}]}}',
      podSpec('{nodeName: n}'),
      podSpec('{nodeName: n}'),
    ],
    [
      'drop everything when the list is empty',
      '{metadata: {annotations: {+(x): y}}, spec: {volumes: [{<(emptyDir): {}}]}}',
      podSpec('{volumes: []}'),
      podSpec('{volumes: []}'),
    ],
    [
      'match an empty map with any map',
      '{metadata: {annotations: {+(x): y}}, spec: {volumes: [{<(emptyDir): {}}]}}',
      podSpec('{volumes: [{name: a, hostPath: {path: /}}, {name: v, emptyDir: {medium: Memory}}]}'),
      pod(
        '{metadata: {annotations: {x: y}}, spec: {volumes: [{name: a, hostPath: {path: /}}, {name: v, emptyDir: {medium: Memory}}]}}',
      ),
    ],
    [
      'drop everything outside lists',
      '{metadata: {labels: {x: y}}, spec: {<(hostNetwork): true}}',
      podSpec('{hostNetwork: false}'),
      podSpec('{hostNetwork: false}'),
    ],
    [
      'deep in nested lists are satisfied by one item',
      refresh,
      deployment(
        '[{name: a}, {name: b, env: [{name: E, value: v}, {name: F, valueFrom: {secretKeyRef: {name: S, key: k}}}]}]',
      ),
      object(
        'apps/v1',
        'Deployment',
        '{spec: {template: {metadata: {annotations: {r: new}}, spec: {containers: [{name: a}, {name: b, env: [{name: E, value: v}, {name: F, valueFrom: {secretKeyRef: {name: S, key: k}}}]}]}}}}',
      ),
    ],
    [
      'deep in nested lists drop everything when no item satisfies them',
      refresh,
      deployment('[{name: a}, {name: b, env: [{name: F, valueFrom: {secretKeyRef: {name: T, key: k}}}]}]'),
      deployment('[{name: a}, {name: b, env: [{name: F, valueFrom: {secretKeyRef: {name: T, key: k}}}]}]'),
    ],
    [
      'with other keys beside them patch the items that satisfy them',
      "spec: {containers: [{<(image): 'corp/*', tty: true}]}",
      containers('[{name: a, image: x}, {name: b, image: corp/y}]'),
      containers('[{name: a, image: x}, {name: b, image: corp/y, tty: true}]'),
    ],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});

describe('add anchors', () => {
  it.each([
    [
      'add what is missing and keep what is there',
      "metadata: {labels: {+(a): '1', +(b): '2'}}",
      pod("{metadata: {labels: {b: 'x'}}}"),
      pod("{metadata: {labels: {b: 'x', a: '1'}}}"),
    ],
    [
      'create the map around them',
      "metadata: {labels: {+(a): '1'}}",
      pod('{metadata: {name: p}}'),
      pod("{metadata: {name: p, labels: {a: '1'}}}"),
    ],
    [
      'count null as present',
      "metadata: {labels: {+(a): '1'}}",
      pod('{metadata: {labels: {a: null}}}'),
      pod('{metadata: {labels: {a: null}}}'),
    ],
    [
      'do not add into what is there',
      'spec: {+(securityContext): {runAsUser: 1}}',
      podSpec('{securityContext: {fsGroup: 2}}'),
      podSpec('{securityContext: {fsGroup: 2}}'),
    ],
    [
      'as siblings each stand for themselves',
      'spec: {securityContext: {+(runAsNonRoot): true, +(runAsUser): 1000, +(runAsGroup): 3000, +(fsGroup): 2000}}',
      podSpec('{securityContext: {runAsUser: 7}}'),
      podSpec('{securityContext: {runAsUser: 7, runAsNonRoot: true, runAsGroup: 3000, fsGroup: 2000}}'),
    ],
    [
      'in list items are decided for each item',
      "spec: {containers: [{(name): '*', resources: {requests: {+(cpu): 1, +(memory): 2}}}]}",
      containers(
        '[{name: a, resources: {requests: {cpu: 9}}}, {name: b}, {name: c, resources: {requests: {memory: 9}}}]',
      ),
      containers(
        '[{name: a, resources: {requests: {cpu: 9, memory: 2}}}, {name: b, resources: {requests: {cpu: 1, memory: 2}}}, {name: c, resources: {requests: {memory: 9, cpu: 1}}}]',
      ),
    ],
    [
      'in an item with a key concern that item, and add it when it is missing',
      'spec: {containers: [{name: a, +(tty): true}, {name: new, +(tty): true}]}',
      containers('[{name: b}, {name: a, tty: false}]'),
      containers('[{name: new, tty: true}, {name: b}, {name: a, tty: false}]'),
    ],
    [
      'in a list item without key or condition are tried on every item',
      'spec: {containers: [{+(tty): true}]}',
      containers('[{name: a}, {name: b, tty: false}]'),
      containers('[{name: a, tty: true}, {name: b, tty: false}]'),
    ],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});

describe('merge', () => {
  it.each([
    [
      'adds new keys and replaces scalars',
      'metadata: {labels: {a: x, b: y}}',
      pod('{metadata: {labels: {a: o, c: z}}}'),
      pod('{metadata: {labels: {a: x, c: z, b: y}}}'),
    ],
    [
      'deletes with null',
      'spec: {nodeName: null, securityContext: null, tolerations: null}',
      podSpec('{nodeName: n, securityContext: {a: 1}, tolerations: [1], x: y}'),
      podSpec('{x: y}'),
    ],
    [
      'leaves nothing for null on a missing key',
      'spec: {nodeName: null}',
      podSpec('{x: y}'),
      podSpec('{x: y}'),
    ],
    [
      'creates the map around a null',
      'spec: {bar: {baz: null}}',
      podSpec('{x: y}'),
      podSpec('{x: y, bar: {}}'),
    ],
    [
      'adds an empty map',
      'spec: {volumes: [{name: v, emptyDir: {}}], securityContext: {}}',
      podSpec('{volumes: []}'),
      podSpec('{volumes: [{name: v, emptyDir: {}}], securityContext: {}}'),
    ],
    [
      'leaves a map alone for an empty map',
      'spec: {securityContext: {}}',
      podSpec('{securityContext: {a: 1}}'),
      podSpec('{securityContext: {a: 1}}'),
    ],
    [
      'keeps the place of merged items and puts new ones in front, in overlay order',
      'spec: {containers: [{name: y}, {name: b, tty: true}, {name: z}]}',
      containers('[{name: a}, {name: b}, {name: c}]'),
      containers('[{name: y}, {name: z}, {name: a}, {name: b, tty: true}, {name: c}]'),
    ],
    [
      'replaces lists without a merge key',
      'spec: {tolerations: [{key: n}], containers: [{name: a, args: [x]}]}',
      podSpec('{tolerations: [{key: o}], containers: [{name: a, args: [p, q]}]}'),
      podSpec('{tolerations: [{key: n}], containers: [{name: a, args: [x]}]}'),
    ],
    [
      'replaces lists of custom resources',
      'spec: {containers: [{name: n}]}',
      widget('{spec: {containers: [{name: a}, {name: b}]}}'),
      widget('{spec: {containers: [{name: n}]}}'),
    ],
    [
      'replaces lists of unknown versions',
      'metadata: {finalizers: [n]}',
      object('apps/v9', 'Deployment', '{metadata: {finalizers: [o]}}'),
      object('apps/v9', 'Deployment', '{metadata: {finalizers: [n]}}'),
    ],
    [
      'merges finalizers as a set, new ones in front',
      'metadata: {finalizers: [n, o2, n]}',
      pod('{metadata: {finalizers: [o1, o2]}}'),
      pod('{metadata: {finalizers: [n, o1, o2]}}'),
    ],
    [
      'changes nothing for an empty list where items are merged',
      'spec: {containers: [], tolerations: []}',
      podSpec('{containers: [{name: a}], tolerations: [{key: k}]}'),
      podSpec('{containers: [{name: a}], tolerations: []}'),
    ],
    [
      'creates an empty list',
      'spec: {imagePullSecrets: []}',
      podSpec('{x: y}'),
      podSpec('{x: y, imagePullSecrets: []}'),
    ],
    [
      'applies items with one key in sequence',
      'spec: {containers: [{name: a, x: 1, y: 1}, {name: a, y: 2}, {name: n, x: 1, y: 1}, {name: n, y: 2}]}',
      containers('[{name: a}]'),
      containers('[{name: n, x: 1, y: 2}, {name: a, x: 1, y: 2}]'),
    ],
    [
      'keeps twins in the object and patches the last',
      'spec: {containers: [{name: a, env: [{name: E, value: n}]}]}',
      containers('[{name: a, env: [{name: E, value: 1}, {name: F}, {name: E, value: 2}]}]'),
      containers('[{name: a, env: [{name: E, value: 1}, {name: F}, {name: E, value: n}]}]'),
    ],
    [
      'treats null in the object as absent',
      'spec: {containers: [{name: n}], securityContext: {a: 1}, nodeName: x}',
      podSpec('{containers: null, securityContext: null, nodeName: null}'),
      podSpec('{containers: [{name: n}], securityContext: {a: 1}, nodeName: x}'),
    ],
    [
      'passes over null items',
      'spec: {containers: [{name: n, tty: true}, {(name): a, tty: true}]}',
      containers('[null, {name: a}]'),
      containers('[{name: n, tty: true}, null, {name: a, tty: true}]'),
    ],
    [
      'creates what is deeper than the object',
      'spec: {a: {b: {c: {d: 1}}}}',
      widget('{}'),
      widget('{spec: {a: {b: {c: {d: 1}}}}}'),
    ],
    [
      'keeps types',
      "data: {a: 'true', b: '1', c: 'null', d: 1.5, e: true}",
      object('v1', 'ConfigMap', '{}'),
      object('v1', 'ConfigMap', "{data: {a: 'true', b: '1', c: 'null', d: 1.5, e: true}}"),
    ],
    [
      'drops apiVersion and kind that agree',
      '{apiVersion: v1, kind: Pod, spec: {x: y}}',
      podSpec('{}'),
      podSpec('{x: y}'),
    ],
    [
      'compares keys as text',
      "spec: {containers: [{name: a, ports: [{containerPort: '80', name: web}]}]}",
      containers('[{name: a, ports: [{containerPort: 80}]}]'),
      containers("[{name: a, ports: [{containerPort: '80', name: web}]}]"),
    ],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });

  const ports = (list: string) => containers(`[{name: a, ports: ${list}}]`);
  const portsOverlay = (item: string) => `spec: {containers: [{name: a, ports: [${item}]}]}`;
  it.each([
    [
      'both keys',
      '{containerPort: 53, protocol: UDP, name: n}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP, name: n}]',
    ],
    [
      'no protocol means TCP',
      '{containerPort: 53, name: n}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: TCP, name: n}, {containerPort: 53, protocol: UDP}]',
    ],
    [
      'no protocol in the object means TCP',
      '{containerPort: 80, protocol: TCP, name: n}',
      '[{containerPort: 80}]',
      '[{containerPort: 80, protocol: TCP, name: n}]',
    ],
    [
      'no protocol, and only one entry',
      '{containerPort: 53, name: n}',
      '[{containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: UDP, name: n}]',
    ],
    [
      'another protocol is another port',
      '{containerPort: 80, protocol: UDP}',
      '[{containerPort: 80}]',
      '[{containerPort: 80, protocol: UDP}, {containerPort: 80}]',
    ],
    [
      'delete',
      '{containerPort: 53, protocol: UDP, $patch: delete}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: TCP}]',
    ],
    [
      'delete without protocol takes one',
      '{containerPort: 53, $patch: delete}',
      '[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]',
      '[{containerPort: 53, protocol: UDP}]',
    ],
  ])('two-part keys: %s', (_title, item, before, after) => {
    expect(apply(portsOverlay(item), ports(before))).toEqual(ports(after));
  });
});

describe('directives', () => {
  it.each([
    [
      'delete an item',
      'spec: {containers: [{name: b, $patch: delete}]}',
      containers('[{name: a}, {name: b}]'),
      containers('[{name: a}]'),
    ],
    [
      'delete the last item',
      'spec: {containers: [{name: a, $patch: delete}]}',
      containers('[{name: a}]'),
      containers('[]'),
    ],
    [
      'delete twins',
      'spec: {containers: [{name: a, $patch: delete}]}',
      containers('[{name: a}, {name: b}, {name: a}]'),
      containers('[{name: b}]'),
    ],
    [
      'delete what is not there',
      'spec: {containers: [{name: z, $patch: delete}], x: {$patch: delete}}',
      containers('[{name: a}]'),
      containers('[{name: a}]'),
    ],
    [
      'delete a map',
      'spec: {securityContext: {$patch: delete}}',
      podSpec('{securityContext: {a: 1}, b: 2}'),
      podSpec('{b: 2}'),
    ],
    [
      'replace a map',
      'spec: {securityContext: {$patch: replace, b: 2}}',
      podSpec('{securityContext: {a: 1}}'),
      podSpec('{securityContext: {b: 2}}'),
    ],
    [
      'replace a map by nothing',
      'spec: {securityContext: {$patch: replace}}',
      podSpec('{securityContext: {a: 1}}'),
      podSpec('{securityContext: {}}'),
    ],
    [
      'replace a list',
      'spec: {containers: [{$patch: replace}, {name: n}]}',
      containers('[{name: a}, {name: b}]'),
      containers('[{name: n}]'),
    ],
    [
      'replace an item',
      'spec: {containers: [{name: b, tty: true, $patch: replace}]}',
      containers('[{name: a}, {name: b, image: x}]'),
      containers('[{name: a}, {name: b, tty: true}]'),
    ],
    [
      'delete a list',
      'spec: {containers: [{$patch: delete}]}',
      podSpec('{containers: [{name: a}], x: y}'),
      podSpec('{x: y}'),
    ],
    [
      'merge',
      'spec: {$patch: merge, containers: [{$patch: merge}, {name: a, $patch: merge, tty: true}]}',
      containers('[{name: a, x: 1}]'),
      containers('[{name: a, x: 1, tty: true}]'),
    ],
    [
      'retainKeys',
      'spec: {strategy: {$retainKeys: [type], type: Recreate}}',
      widget('{spec: {strategy: {type: RollingUpdate, rollingUpdate: {a: 1}}}}'),
      widget('{spec: {strategy: {type: Recreate}}}'),
    ],
    [
      'deleteFromPrimitiveList',
      'metadata: {$deleteFromPrimitiveList/finalizers: [b], finalizers: [c]}',
      pod('{metadata: {finalizers: [a, b]}}'),
      pod('{metadata: {finalizers: [c, a]}}'),
    ],
    [
      'setElementOrder',
      'spec: {$setElementOrder/containers: [{name: c}, {name: n}, {name: a}], containers: [{name: n}]}',
      containers('[{name: a}, {name: b}, {name: c}]'),
      containers('[{name: c}, {name: n}, {name: b}, {name: a}]'),
    ],
    ['a member that only looks like one', 'spec: {$ref: x}', widget('{}'), widget('{spec: {$ref: x}}')],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});

describe('variables', () => {
  it('fill in values, keys and conditions', () => {
    const before = pod('{metadata: {name: web}, spec: {containers: [{name: app}, {name: side}]}}');
    const overlay = parse(`
      metadata: {labels: {name: '{{ request.object.metadata.name }}', '{{ element.key }}': x, '+({{ element.key }}2)': y}}
      spec: {containers: [{(name): '{{ element.name }}', tty: true}]}`) as Json;
    const roots = { request: { object: before }, element: { name: 'app', key: 'k' } };
    expect(apply(overlay, before, roots)).toEqual(
      pod(
        '{metadata: {name: web, labels: {name: web, k: x, k2: y}}, spec: {containers: [{name: app, tty: true}, {name: side}]}}',
      ),
    );
  });

  it('may make a pattern', () => {
    const before = containers('[{name: app}, {name: side}]');
    const overlay = { spec: { containers: [{ '(name)': '{{ element }}', tty: true }] } };
    expect(apply(overlay, before, { element: 's*' })).toEqual(
      containers('[{name: app}, {name: side, tty: true}]'),
    );
  });

  it('yield merge keys', () => {
    const before = containers('[{name: app}, {name: side}]');
    const overlay = { spec: { containers: [{ name: '{{ element }}', tty: true }] } };
    expect(apply(overlay, before, { element: 'side' })).toEqual(
      containers('[{name: app}, {name: side, tty: true}]'),
    );
  });

  it('yield data: no anchor or directive is looked for inside', () => {
    const before = pod('{metadata: {annotations: {a: b}}}');
    const overlay = { metadata: { annotations: '{{ element }}' } };
    const element = { '(a)': 'x', '+(a)': 'y', $patch: 'delete', 'X(b)': 'z' };
    expect(apply(overlay, before, { element })).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { annotations: { a: 'b', ...element } },
    });
  });

  it('yield keys that are data', () => {
    const overlay = { metadata: { labels: { '{{ element }}': 'x' } } };
    expect(apply(overlay, pod('{metadata: {labels: {a: b}}}'), { element: '+(a)' })).toEqual(
      pod("{metadata: {labels: {a: b, '+(a)': x}}}"),
    );
  });

  it('yield objects and lists that are merged as if written there', () => {
    const before = containers('[{name: a, image: x}]');
    const overlay = { spec: { containers: '{{ element }}' } };
    const element = parse('[{name: a, tty: true}, {name: n}]') as Json;
    expect(apply(overlay, before, { element })).toEqual(
      containers('[{name: n}, {name: a, image: x, tty: true}]'),
    );
  });

  it('yield list items', () => {
    const overlay = { metadata: { finalizers: ['{{ element }}'] }, spec: { containers: ['{{ item }}'] } };
    expect(
      apply(overlay, pod('{metadata: {finalizers: [o]}, spec: {containers: [{name: a}]}}'), {
        element: 'n',
        item: { name: 'a', tty: true },
      }),
    ).toEqual(pod('{metadata: {finalizers: [n, o]}, spec: {containers: [{name: a, tty: true}]}}'));
  });

  it('are told their place without parentheses', () => {
    const problems: unknown[] = [];
    const places: Path[] = [];
    compileStrategicMerge(
      { metadata: { '+(annotations)': { k: 'x-{{@}}' } } },
      ['mutate', 'patchStrategicMerge'],
      { error: (...problem) => void problems.push(problem), warn: () => {} },
      {
        self: (path) => {
          places.push(path);
          return 'request.object.metadata.annotations.k';
        },
      },
    );
    expect(problems).toEqual([]);
    expect(places[0]).toEqual(['mutate', 'patchStrategicMerge', 'metadata', 'annotations', 'k']);
  });

  it('name the roots they read', () => {
    const { patch } = compile({ a: '{{ request.x }}', '({{ element.k }})': '{{ conf.v }}' });
    expect([...(patch?.roots ?? [])].sort()).toEqual(['conf', 'element', 'request']);
  });
});

describe('refused when the policy is loaded', () => {
  it.each([
    ['an overlay that is no map', [1], 'KYM_PATCH_INVALID', []],
    ['an equality anchor', { spec: { '=(a)': 1 } }, 'KYM_ANCHOR_UNSUPPORTED', ['spec', '=(a)']],
    [
      'a negation anchor',
      { spec: { list: [{ 'X(a)': null }] } },
      'KYM_ANCHOR_UNSUPPORTED',
      ['spec', 'list', 0, 'X(a)'],
    ],
    [
      'an existence anchor in a condition',
      { '(spec)': { '^(a)': [{ b: 1 }] } },
      'KYM_ANCHOR_UNSUPPORTED',
      ['(spec)', '^(a)'],
    ],
    [
      'an add anchor in a condition',
      { '(spec)': { a: { '+(b)': 1 } } },
      'KYM_ANCHOR_MISPLACED',
      ['(spec)', 'a', '+(b)'],
    ],
    ['an unknown strategy', { spec: { $patch: 'drop' } }, 'KYM_PATCH_DIRECTIVE', ['spec', '$patch']],
    [
      'an unknown strategy of a list',
      { spec: [{ $patch: 7 }] },
      'KYM_PATCH_DIRECTIVE',
      ['spec', 0, '$patch'],
    ],
    [
      'an order that is no list',
      { '$setElementOrder/a': 'x' },
      'KYM_PATCH_DIRECTIVE',
      ['$setElementOrder/a'],
    ],
    [
      'anchors in a list that is replaced',
      { l: [{ $patch: 'replace' }, { '(a)': 1 }] },
      'KYM_PATCH_DIRECTIVE',
      ['l'],
    ],
    ['deletion of the object', { $patch: 'delete' }, 'KYM_PATCH_INVALID', ['$patch']],
  ])('%s', (_title, overlay, code, path) => {
    const { patch, problems } = compile(overlay as Json);
    expect(patch).toBeUndefined();
    expect(problems).toMatchObject([{ code, path: ['mutate', 'patchStrategicMerge', ...path] }]);
  });

  it('all problems at once', () => {
    expect(compile({ '=(a)': 1, b: { 'X(c)': 1, $patch: 'no' } }).problems).toHaveLength(3);
  });

  it.each([
    ['maps', (inner: Json): Json => ({ a: inner })],
    ['lists', (inner: Json): Json => [inner]],
  ])('10,000 nested %s', (_title, wrap) => {
    let overlay: Json = 1;
    for (let depth = 0; depth < 10_000; depth++) overlay = wrap(overlay);
    expect(compile({ spec: overlay }).problems).toMatchObject([{ code: 'KYM_PATCH_TOO_DEEP' }]);
    expect(compile({ '(spec)': overlay }).problems).toMatchObject([{ code: 'KYM_PATCH_TOO_DEEP' }]);
  });
});

describe('failures on an object', () => {
  it.each([
    ['a map over a scalar', '{spec: {nodeName: {a: 1}}}', 'KYM_PATCH_MISMATCH', ['spec', 'nodeName']],
    ['a map over a list', '{spec: {containers: {a: 1}}}', 'KYM_PATCH_MISMATCH', ['spec', 'containers']],
    ['a list over a map', '{metadata: {labels: [1]}}', 'KYM_PATCH_MISMATCH', ['metadata', 'labels']],
    ['a list over a scalar', '{spec: {nodeName: [a]}}', 'KYM_PATCH_MISMATCH', ['spec', 'nodeName']],
    ['a scalar over a map', '{metadata: {labels: x}}', 'KYM_PATCH_MISMATCH', ['metadata', 'labels']],
    ['a scalar over a list', '{spec: {containers: 7}}', 'KYM_PATCH_MISMATCH', ['spec', 'containers']],
    [
      'an item without merge key or anchor',
      '{spec: {containers: [{image: z}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers'],
    ],
    [
      'an item without merge key, in a new list',
      '{spec: {volumes: [{emptyDir: {}}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'volumes'],
    ],
    [
      'a null merge key',
      '{spec: {containers: [{name: null, tty: true}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers'],
    ],
    [
      'a scalar in a keyed list',
      '{spec: {containers: [a]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers'],
    ],
    [
      'the second merge key alone',
      '{spec: {containers: [{name: a, ports: [{protocol: TCP}]}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'containers', 0, 'ports'],
    ],
    [
      'an ambiguous item',
      '{spec: {topologySpreadConstraints: [{topologyKey: z, maxSkew: 2}]}}',
      'KYM_PATCH_KEY_MISSING',
      ['spec', 'topologySpreadConstraints'],
    ],
    [
      'deletion from a list without merge key',
      '{spec: {tolerations: [{key: a, $patch: delete}]}}',
      'KYM_PATCH_DIRECTIVE',
      ['spec', 'tolerations'],
    ],
  ])('%s', (_title, overlay, code, path) => {
    const before = pod(
      '{metadata: {labels: {a: b}}, spec: {nodeName: x, containers: [{name: a, ports: [{containerPort: 1}]}], topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: A}, {topologyKey: z, whenUnsatisfiable: B}]}}',
    );
    let error: unknown;
    try {
      apply(overlay, before);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(PatchError);
    expect(error).toMatchObject({ code, path });
  });

  it('a value nested beyond measure', () => {
    let element: Json = 1;
    for (let depth = 0; depth < 10_000; depth++) element = { a: element };
    expect(() => apply({ spec: '{{ element }}' }, widget('{}'), { element })).toThrow(
      expect.objectContaining({ code: 'KYM_PATCH_TOO_DEEP' }),
    );
  });
});

describe('outcomes', () => {
  it('return the object itself when nothing changes', () => {
    const before = pod(
      '{metadata: {labels: {a: b}}, spec: {containers: [{name: a, args: [x, y]}], tolerations: [{key: k}]}}',
    );
    const overlay = parse(
      '{metadata: {labels: {a: b, +(a): z}}, spec: {containers: [{name: a, args: [x, y]}, {(name): zz, tty: true}], tolerations: [{key: k}], nodeName: null}}',
    ) as Json;
    const result = run(overlay, before);
    expect(result).toMatchObject({ status: 'patched' });
    expect(result.status === 'patched' && result.object).toBe(before);
  });

  it('share what they did not touch', () => {
    const before = pod(
      '{metadata: {labels: {a: b}}, spec: {containers: [{name: a}, {name: b, env: [{name: E}]}]}}',
    );
    const after = apply('spec: {containers: [{name: a, tty: true}]}', before);
    expect(after['metadata']).toBe(before['metadata']);
    expect((after as never)['spec']['containers'][1]).toBe((before as never)['spec']['containers'][1]);
  });

  it('name the anchor that dropped the overlay', () => {
    expect(run({ spec: { '(hostNetwork)': true, x: 1 } }, podSpec('{hostNetwork: false}'))).toEqual({
      status: 'skipped',
      misses: [{ anchor: '(hostNetwork)', path: ['spec', 'hostNetwork'], expected: true, actual: false }],
    });
  });

  it('name the anchors that left out list items', () => {
    const overlay = { spec: { containers: [{ '(image)': '{{ element }}', tty: true }] } };
    expect(run(overlay, containers('[{name: a, image: x}, {name: b}]'), { element: 'y*' })).toMatchObject({
      status: 'patched',
      misses: [
        { anchor: '(image)', path: ['spec', 'containers', 0, 'image'], expected: 'y*', actual: 'x' },
        { anchor: '(image)', path: ['spec', 'containers', 1, 'image'], expected: 'y*', actual: undefined },
      ],
    });
  });
});

describe('hostile keys', () => {
  const hostile = (): JsonObject =>
    JSON.parse(
      '{"metadata":{"labels":{"__proto__":"x","constructor":"y","+(toString)":"z"}},"__proto__":{"a":1}}',
    ) as JsonObject;
  it('are members like any other', () => {
    const after = apply(hostile(), pod('{metadata: {labels: {a: b}}}'));
    expect(JSON.parse(JSON.stringify(after))).toEqual(
      JSON.parse(
        '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b","__proto__":"x","constructor":"y","toString":"z"}},"__proto__":{"a":1}}',
      ),
    );
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });
  it('change nothing the second time', () => {
    const once = apply(hostile(), pod('{metadata: {labels: {a: b}}}'));
    expect(apply(hostile(), once)).toBe(once);
  });
  it('are not found in the object when it does not have them', () => {
    const before = pod('{metadata: {labels: {a: b}}}');
    expect(run(JSON.parse('{"(constructor)":"*","x":1}') as Json, before).status).toBe('skipped');
    expect(run(JSON.parse('{"(__proto__)":{},"x":1}') as Json, before).status).toBe('skipped');
  });
});
