import { expect, it } from 'vitest';
import { summarizeMetrics } from './summary.ts';

it('adds up the series of each metric, and ignores others', () => {
  const text = `# HELP kyverno_admission_requests_total Admission requests.
kyverno_admission_requests_total{resource_kind="Pod",request_allowed="true",resource_namespace="a"} 3
kyverno_admission_requests_total{resource_kind="Pod",request_allowed="true",resource_namespace="b"} 4
kyverno_admission_requests_total{resource_kind="Pod",request_allowed="false",resource_namespace="b"} 1
kyverno_admission_review_duration_seconds_bucket{le="0.005",resource_kind="Pod"} 6
kyverno_admission_review_duration_seconds_bucket{le="0.005",resource_kind="Service"} 1
kyverno_admission_review_duration_seconds_bucket{le="+Inf",resource_kind="Pod"} 8
kyverno_admission_review_duration_seconds_sum{resource_kind="Pod"} 0.1
kymera_background_queue 2
kymera_update_requests{state="Pending"} 5
other_metric{file="x"} 7
`;
  expect(summarizeMetrics(text)).toEqual({
    allowed: 7,
    denied: 1,
    durations: { '0.005': 7, '+Inf': 8 },
    background: { waiting: 2, 'UpdateRequests, Pending': 5 },
  });
});
