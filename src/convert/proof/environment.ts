import type { Environment } from '../../expression/scope.ts';

/** Time and chance are the same for both forms. */
export function fixedEnvironment(): Environment {
  let state = 1;
  return {
    now: () => new Date(Date.UTC(2024, 0, 2, 3, 4, 5)),
    random: () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    },
  };
}
