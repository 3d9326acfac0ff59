import type { SourceText } from '../engine/workspace.ts';

/** A file with its path in the folder that the user chose. */
export interface NamedFile {
  readonly name: string;
  readonly file: File;
}

const mostFiles = 1_000;
const mostBytes = 10 * 1024 * 1024;
/** Folders of tools, which have many files and no resources. */
const isIgnored = (name: string) => name.startsWith('.') || name === 'node_modules';

/** The files of a drop, also those of dropped folders. */
export function droppedFiles({ items, files }: DataTransfer): Promise<readonly NamedFile[]> {
  // The items are only available until the event is over.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return Promise.resolve([...files].map((file) => ({ name: file.name, file })));
  return filesOf(entries);
}

async function filesOf(entries: readonly FileSystemEntry[]): Promise<readonly NamedFile[]> {
  const found: NamedFile[] = [];
  const waiting = [...entries];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (found.length >= mostFiles) throw new Error(`The folder has more than ${mostFiles} files.`);
    if (entry.isFile) found.push(await fileOf(entry as FileSystemFileEntry));
    else waiting.push(...(await childrenOf(entry as FileSystemDirectoryEntry)));
  }
  return found.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function fileOf(entry: FileSystemFileEntry): Promise<NamedFile> {
  return new Promise((resolve, reject) => {
    entry.file((file) => resolve({ name: entry.fullPath.replace(/^\//, ''), file }), reject);
  });
}

/** A reader gives the entries in portions. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all.filter(({ name }) => !isIgnored(name));
    all.push(...some);
  }
}

/** The files that are text. Throws if there are too many of them. */
export async function readTexts(files: readonly NamedFile[]): Promise<SourceText[]> {
  const wanted = files.filter(({ name }) => !name.split('/').some(isIgnored));
  const bytes = wanted.reduce((sum, { file }) => sum + file.size, 0);
  if (wanted.length > mostFiles || bytes > mostBytes) {
    throw new Error(
      `These are ${wanted.length} files with ${Math.ceil(bytes / 2 ** 20)} MB: too much for this page.`,
    );
  }
  const texts = await Promise.all(wanted.map(async ({ name, file }) => ({ name, text: await textOf(file) })));
  return texts.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]));
}

/** Undefined for a binary file. */
async function textOf(file: File): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
}

/** Names relative to the folder that contains all files. */
export function withoutTop(sources: readonly SourceText[]): SourceText[] {
  const [first = ''] = sources[0]?.name.split('/') ?? [];
  const top = `${first}/`;
  if (!sources.every(({ name }) => name.startsWith(top))) return [...sources];
  return sources.map(({ name, text }) => ({ name: name.slice(top.length), text }));
}
