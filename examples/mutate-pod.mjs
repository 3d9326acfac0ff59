// Load policies once, then apply them to any number of objects. Run this with `node examples/mutate-pod.mjs`.
import { explain, loadPolicies, mutate } from 'kymera';

const set = loadPolicies({
  file: 'labels.yaml',
  text: `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: labels
spec:
  rules:
  - name: owner
    match:
      any:
      - resources:
          kinds: [Pod]
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            +(team): "{{ request.namespace }}"
`,
});
for (const { message } of set.problems) console.error(message);

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } };

const { object, patch } = await mutate(pod, set);
console.log(JSON.stringify(object?.metadata));
console.log(JSON.stringify(patch));

// Explain why a second run changes nothing.
for (const { rule, status, message } of await explain(object ?? pod, set)) {
  console.log(`${rule.name}: ${status}: ${message}`);
}
