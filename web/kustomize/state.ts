import { signal } from '@preact/signals';

/** The stage that is shown; undefined shows the last one. */
export const stageIndex = signal<number | undefined>(undefined);
/** Whether unchanged lines are shown, too. */
export const isWhole = signal(false);
/** The index of the replacement that is pointed at. */
export const pointed = signal<number | undefined>(undefined);
