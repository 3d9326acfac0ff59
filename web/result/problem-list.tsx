import { evaluation, goTo } from '../state/playground.ts';

const mostShown = 20;

/** The problems of the sources. Each goes to its line. */
export function ProblemList() {
  const problems = evaluation.value?.problems ?? [];
  if (problems.length === 0) return null;
  return (
    <ul class="problems" aria-label="Problems">
      {problems.slice(0, mostShown).map((problem) => {
        const { role, file = '', line = 1, column = 1, severity, message, hint, rule } = problem;
        const text = `${rule === undefined ? '' : `rule ${rule}: `}${message}`;
        return (
          <li key={`${role} ${file} ${line} ${column} ${message}`} class={severity}>
            {role === 'request' || role === 'mocks' ? (
              <span>{text}</span>
            ) : (
              <button type="button" class="link" onClick={() => goTo({ role, file, line, column })}>
                <span class="place">
                  {file}:{line}
                </span>{' '}
                {text}
              </button>
            )}
            {hint !== undefined && <span class="hint">{hint}</span>}
          </li>
        );
      })}
      {problems.length > mostShown && <li class="muted">… and {problems.length - mostShown} more</li>}
    </ul>
  );
}
