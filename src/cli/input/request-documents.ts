import type { RequestUser } from '../../engine/request.ts';
import type { JsonObject } from '../../json/value.ts';
import { parseUserInfo } from '../../offline/user-info.ts';
import { parseValues, type ValuesDocument } from '../../offline/values-document.ts';
import { readDocuments } from '../../policy/documents.ts';
import { InputError, inputError, type Problem } from '../../problem.ts';
import type { Io } from '../io.ts';
import { displayName, readWhole } from './text-input.ts';

/** The Values document in a file. Throws InputError. */
export async function readValues(
  name: string,
  io: Io,
): Promise<{ values: ValuesDocument; warnings: Problem[] }> {
  return parseValues(await readOneDocument(name, io), displayName(name));
}

/** The UserInfo document in a file. Throws InputError. */
export async function readUserInfo(name: string, io: Io): Promise<RequestUser> {
  return parseUserInfo(await readOneDocument(name, io), displayName(name));
}

/** The only document of a file. Throws InputError. */
export async function readOneDocument(name: string, io: Io): Promise<JsonObject> {
  const file = displayName(name);
  const { documents, problems } = readDocuments({ file, text: await readWhole(name, io) });
  if (problems.length > 0) throw new InputError(problems);
  const [document] = documents;
  if (document === undefined) throw inputError('KYM_VALUES_INVALID', 'the file is empty', { file });
  return document.value;
}
