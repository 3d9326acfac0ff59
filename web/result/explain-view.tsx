import type { EvaluatedObject, PolicyNode, ReasonNode, RuleNode } from '../engine/evaluation.ts';
import { goToLocation } from '../state/playground.ts';

/** What each rule did, and the clause that decided. */
export function ExplainView({ object }: { readonly object: EvaluatedObject }) {
  if (object.policies.length === 0) return <p class="empty muted">There is no valid policy.</p>;
  return (
    <div class="explain">
      {object.policies.map((policy, index) => (
        <PolicyBranch key={index} node={policy} />
      ))}
    </div>
  );
}

function PolicyBranch({ node }: { readonly node: PolicyNode }) {
  return (
    <section class="policy" aria-label={`Policy ${node.policy}`}>
      <h3>
        <button type="button" class="link" onClick={() => void goToLocation(node.at)}>
          {node.policy}
        </button>
        {node.dropped && <span class="badge bad">a rule failed: no change of this policy is kept</span>}
      </h3>
      <ul>
        {node.rules.map((rule) => (
          <RuleBranch key={rule.rule} node={rule} />
        ))}
      </ul>
    </section>
  );
}

const symbols = { applied: '✓', unchanged: '=', skipped: '–', failed: '✗', ignored: '·' } as const;

function RuleBranch({ node }: { readonly node: RuleNode }) {
  return (
    <li class={`rule ${node.status}`}>
      <div class="rule-head">
        <span class="symbol" aria-hidden="true">
          {symbols[node.status]}
        </span>
        <button type="button" class="link strong" onClick={() => void goToLocation(node.at)}>
          {node.rule}
        </button>
        <span class={`badge ${node.status}`}>{node.status}</span>
        <span class="message">{node.message}</span>
      </div>
      {node.autogen !== undefined && (
        <details class="autogen">
          <summary>Generated from {node.autogen.of} for pod controllers</summary>
          <pre>{node.autogen.yaml}</pre>
        </details>
      )}
      <Reasons nodes={node.reasons} />
    </li>
  );
}

function Reasons({ nodes }: { readonly nodes: readonly ReasonNode[] }) {
  if (nodes.length === 0) return null;
  return (
    <ul class="reasons">
      {nodes.map((node, index) => {
        const { policyAt, objectAt } = node;
        return (
          <li key={index}>
            <span>{node.text}</span>
            {policyAt !== undefined && (
              <button type="button" class="jump" onClick={() => void goToLocation(policyAt)}>
                policy
              </button>
            )}
            {objectAt !== undefined && (
              <button type="button" class="jump" onClick={() => void goToLocation(objectAt)}>
                object
              </button>
            )}
            <Reasons nodes={node.below} />
          </li>
        );
      })}
    </ul>
  );
}
