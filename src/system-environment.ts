import type { Environment } from './expression/scope.ts';

/** The clock and the randomness of this process, for the layers that may use them. */
export const systemEnvironment: Environment = { now: () => new Date(), random: Math.random };
