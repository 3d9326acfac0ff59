import { controlPlaneFaults } from './control-plane.ts';
import { editedObjects } from './edited.ts';
import type { Fault } from './fault.ts';
import { killedProcesses } from './killed.ts';
import { machineFaults } from './machine.ts';

/** All faults, in the order in which they are caused. */
export const faults: readonly Fault[] = [
  ...killedProcesses,
  ...controlPlaneFaults,
  ...editedObjects,
  ...machineFaults,
];
