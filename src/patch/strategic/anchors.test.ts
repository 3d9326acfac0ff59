import { describe, expect, it } from 'vitest';
import { apply, containers, object, pod, podSpec, widget } from './fixture.testing.ts';

describe('+() inside a condition', () => {
  it.each([
    [
      'is added where the condition holds: the key exists',
      'spec: {volumes: [{(name): "*", (emptyDir): {+(sizeLimit): 20Mi}}]}',
      podSpec('{volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /}}]}'),
      podSpec('{volumes: [{name: a, emptyDir: {sizeLimit: 20Mi}}, {name: b, hostPath: {path: /}}]}'),
    ],
    [
      'is not added where it exists',
      'spec: {volumes: [{(emptyDir): {+(sizeLimit): 20Mi}}]}',
      podSpec('{volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}]}'),
      podSpec('{volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}]}'),
    ],
    [
      'is not added where another key does not match',
      'spec: {volumes: [{(emptyDir): {medium: Memory, +(sizeLimit): 20Mi}}]}',
      podSpec('{volumes: [{name: a, emptyDir: {medium: Memory}}, {name: b, emptyDir: {}}]}'),
      podSpec('{volumes: [{name: a, emptyDir: {medium: Memory, sizeLimit: 20Mi}}, {name: b, emptyDir: {}}]}'),
    ],
    [
      'leaves compared values as they are',
      'spec: {(securityContext): {runAsUser: ">100", +(runAsNonRoot): true}, hostPID: false}',
      podSpec('{securityContext: {runAsUser: 1000}}'),
      podSpec('{securityContext: {runAsUser: 1000, runAsNonRoot: true}, hostPID: false}'),
    ],
    [
      'drops the overlay outside lists when the key is absent',
      'spec: {(securityContext): {+(runAsNonRoot): true}, hostPID: false}',
      podSpec('{nodeName: n}'),
      podSpec('{nodeName: n}'),
    ],
    [
      'is found at any depth, and requires the keys that lead to it',
      'spec: {(a): {b: {(c): 1, +(d): {e: 2}}}}',
      widget('{spec: {a: {b: {c: 1}}}}'),
      widget('{spec: {a: {b: {c: 1, d: {e: 2}}}}}'),
    ],
    [
      'is found below a global condition',
      'spec: {<(a): {+(d): 2}}',
      widget('{spec: {a: {b: 1}}}'),
      widget('{spec: {a: {b: 1, d: 2}}}'),
    ],
    [
      'is added to the items of a list for which the conditions beside it hold',
      'spec: {(things): [{(name): a*, +(size): 1}]}',
      widget('{spec: {things: [{name: a1}, {name: b1}, {name: a2, size: 5}]}}'),
      widget('{spec: {things: [{name: a1, size: 1}, {name: b1}, {name: a2, size: 5}]}}'),
    ],
    [
      'does not hold for a value that is no map',
      'spec: {(a): {+(d): 2}}',
      widget('{spec: {a: text}}'),
      widget('{spec: {a: text}}'),
    ],
  ])('%s', (_, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});

describe('condition anchors', () => {
  it.each([
    [
      'patch only the list item they match, in its position',
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
      'deeper in an item decide about its deletion',
      "spec: {containers: [{(name): '*', securityContext: {(privileged): true}, $patch: delete}]}",
      containers(
        '[{name: a, securityContext: {privileged: true}}, {name: b}, {name: c, securityContext: {privileged: false}}]',
      ),
      containers('[{name: b}, {name: c, securityContext: {privileged: false}}]'),
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
      'leave the rest of a map to be created around a list they found missing',
      'spec: {affinity: {terms: [{(key): a, value: b}], x: 1}}',
      podSpec('{nodeName: n}'),
      podSpec('{nodeName: n, affinity: {x: 1}}'),
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
  ])('patch items in position: %s', (_title, overlay, before, after) => {
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
      'spec: {volumes: [{name: a, +(x): true}, {name: new, +(x): true}]}',
      podSpec('{volumes: [{name: b}, {name: a, x: false}]}'),
      podSpec('{volumes: [{name: new, x: true}, {name: b}, {name: a, x: false}]}'),
    ],
    [
      'in a list item without key or condition are tried on every item that is a map',
      'spec: {containers: [{+(tty): true}]}',
      containers('[null, {name: a}, {name: b, tty: false}]'),
      containers('[null, {name: a, tty: true}, {name: b, tty: false}]'),
    ],
  ])('%s', (_title, overlay, before, after) => {
    expect(apply(overlay, before)).toEqual(after);
  });
});
