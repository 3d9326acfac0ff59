import type { Workspace } from '../engine/workspace.ts';

/** An entry of the gallery. */
export interface Example {
  /** `cookbook/dns-ndots`. */
  readonly id: string;
  readonly group: string;
  readonly title: string;
  readonly description: string;
  readonly workspace: Partial<Workspace> & Pick<Workspace, 'policies'>;
}
