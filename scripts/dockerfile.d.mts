export interface Instruction {
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

export function readDockerfile(file: string): readonly Instruction[];
export function stagesOf(instructions: readonly Instruction[]): readonly Stage[];
export function copyParts(text: string): {
  readonly from?: string;
  readonly sources: readonly string[];
  readonly target: string;
};
export function contextFiles(folder: string): readonly string[];
export function sizeOf(path: string): number;
