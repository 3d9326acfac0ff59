import { deflateSync, Inflate } from 'fflate';
import { emptyRequest, type RequestForm, type SourceText, type Workspace } from '../engine/workspace.ts';

/** A link may come from anybody: what it unpacks to is bounded. */
const mostBytes = 8 * 1024 * 1024;
/** Each file is a tab, and each mock a field. */
const mostFiles = 1_000;

/** The workspace as text for the fragment of an address. */
export function encodeWorkspace(workspace: Workspace): string {
  const bytes = deflateSync(new TextEncoder().encode(JSON.stringify(workspace)), { level: 9 });
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Throws an Error with a message for the user. */
export function decodeWorkspace(text: string): Workspace {
  let value: unknown;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    value = JSON.parse(inflate(Uint8Array.from(binary, (character) => character.charCodeAt(0))));
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    throw new Error('The link is damaged: copy it again, as a whole.', { cause: error });
  }
  return readWorkspace(value);
}

class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

function inflate(bytes: Uint8Array<ArrayBuffer>): string {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  const stream = new Inflate((chunk) => {
    size += chunk.length;
    if (size > mostBytes) throw new TooLargeError('The link holds more than 8 MB.');
    text += decoder.decode(chunk, { stream: true });
  });
  // In small pieces, because a piece is unpacked as a whole.
  for (let at = 0; at < bytes.length; at += 4_096) {
    stream.push(bytes.subarray(at, at + 4_096), at + 4_096 >= bytes.length);
  }
  return text;
}

/** Accepts only what this page writes; unknown members are dropped. */
export function readWorkspace(value: unknown): Workspace {
  const given = isRecord(value) ? value : {};
  return {
    policies: readSources(given['policies']),
    resources: readSources(given['resources']),
    context: readSources(given['context']),
    request: readRequest(given['request']),
    mocks: readTexts(given['mocks']),
    files: readSources(given['files']),
    ...(typeof given['folder'] === 'string' ? { folder: given['folder'] } : {}),
    tests: readSources(given['tests']),
  };
}

function readSources(value: unknown): SourceText[] {
  if (!Array.isArray(value)) return [];
  if (value.length > mostFiles) throw new TooLargeError(`The link holds more than ${mostFiles} files.`);
  return value.flatMap((item: unknown) =>
    isRecord(item) && typeof item['name'] === 'string' && typeof item['text'] === 'string'
      ? [{ name: item['name'], text: item['text'] }]
      : [],
  );
}

function readRequest(value: unknown): RequestForm {
  const given = isRecord(value) ? value : {};
  const form: Record<string, string> = { ...emptyRequest };
  for (const key of Object.keys(emptyRequest)) {
    if (typeof given[key] === 'string') form[key] = given[key];
  }
  if (!['CREATE', 'UPDATE', 'DELETE'].includes(form['operation'] ?? '')) form['operation'] = 'CREATE';
  return form as unknown as RequestForm;
}

function readTexts(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  const entries = Object.entries(value);
  if (entries.length > mostFiles) throw new TooLargeError(`The link holds more than ${mostFiles} mocks.`);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
