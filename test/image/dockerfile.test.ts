import { describe, expect, it } from 'vitest';
import { contextFiles, copyParts, readDockerfile, stagesOf } from '../../scripts/dockerfile.mjs';

const instructions = readDockerfile('Dockerfile');
const stages = stagesOf(instructions);
const final = stages.at(-1);
const named = (name: string) => (final?.instructions ?? []).filter((each) => each.name === name);

describe('the Dockerfile', () => {
  it('uses only instructions that are safe to repeat', () => {
    const known = ['FROM', 'ARG', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'ENV', 'USER', 'EXPOSE', 'HEALTHCHECK'];
    const strange = instructions.filter(({ name }) => ![...known, 'ENTRYPOINT', 'CMD'].includes(name));
    expect(strange).toEqual([]);
  });

  it('builds in one stage and ships another, both on a named release', () => {
    expect(stages).toHaveLength(2);
    for (const { base } of stages) expect(base).toMatch(/^node:\d+-slim$/);
  });

  it('ships nothing that is installed or built in its last stage', () => {
    expect(named('RUN')).toEqual([]);
  });

  it('installs exactly what the lock file says', () => {
    const commands = instructions.filter(({ name }) => name === 'RUN').map(({ text }) => text);
    expect(commands.filter((text) => /\bnpm (i|install|add)\b/.test(text))).toEqual([]);
    expect(commands.some((text) => text.startsWith('npm ci'))).toBe(true);
  });

  it('copies the lock file before the sources, so that packages are cached', () => {
    const order = stages[0]?.instructions.map(({ name, text }) => `${name} ${text}`) ?? [];
    const at = (start: string) => order.findIndex((line) => line.startsWith(start));
    expect(at('COPY package.json')).toBeLessThan(at('RUN npm ci'));
    expect(at('RUN npm ci')).toBeLessThan(at('COPY src'));
  });

  it('runs as a user with a number, and not as root', () => {
    const [user] = named('USER');
    expect(user?.text).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const after = final?.instructions.slice(final.instructions.findIndex(({ name }) => name === 'USER') + 1);
    expect(after?.filter(({ name }) => name === 'COPY' || name === 'RUN')).toEqual([]);
  });

  it('starts the program directly, so that signals reach it', () => {
    for (const name of ['ENTRYPOINT', 'CMD']) {
      expect(named(name)).toHaveLength(1);
      expect(Array.isArray(JSON.parse(named(name)[0]?.text ?? ''))).toBe(true);
    }
  });

  it('says how it is, and what it is', () => {
    expect(named('HEALTHCHECK')).toHaveLength(1);
    const labels = named('LABEL')
      .map(({ text }) => text)
      .join(' ');
    for (const label of ['title', 'description', 'licenses', 'version', 'revision', 'created']) {
      expect(labels).toContain(`org.opencontainers.image.${label}=`);
    }
  });

  it('takes in no secret', () => {
    const given = instructions.filter(({ name }) => name === 'ARG' || name === 'ENV').map(({ text }) => text);
    expect(given.filter((text) => /token|secret|passw|key/i.test(text))).toEqual([]);
  });
});

describe('the build context', () => {
  const files = contextFiles('.');

  it('holds what is copied, and little else', () => {
    const copied = instructions
      .filter(({ name }) => name === 'COPY')
      .map(({ text }) => copyParts(text))
      .filter(({ from }) => from === undefined)
      .flatMap(({ sources }) => sources);
    const isCopied = (file: string) =>
      copied.some((source) => file === source || file.startsWith(`${source}/`));
    expect(files.filter((file) => !isCopied(file))).toEqual([]);
    for (const source of copied) {
      expect(
        files.some((file) => file === source || file.startsWith(`${source}/`)),
        source,
      ).toBe(true);
    }
  });

  it('holds neither tests, nor history, nor installed packages', () => {
    expect(files.filter((file) => /\.test\.ts$|^\.git|node_modules|^dist\//.test(file))).toEqual([]);
  });
});
