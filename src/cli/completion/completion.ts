import type { Command } from 'commander';
import { modelOf } from '../command-model.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** The completion script of a shell, generated from the command definitions. */
export function completionScript(shell: keyof typeof scripts, program: Command): string {
  return scripts[shell](modelOf(program));
}
