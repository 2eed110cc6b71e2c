import type { JsonObject } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { isFileStoreUnavailable } from '../../storage/file-store-unavailable.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { NewFile } from '../block-services.ts'
import type { FlowContext } from '../context.ts'
import { attemptsIn, withAttempts } from '../outside-attempts.ts'
import type { InPins } from '../pin.ts'

/** Former files that one write replaces. */
const MOST_REPLACED = 100

/** Where a block writes a file. */
export const placePins = {
  name: { type: 'value', required: true, help: 'Name of the file, such as report.xlsx.' },
  directory: {
    type: 'value',
    default: 'files',
    help: 'Directory of the asset. Files in public, or in a directory in it, are public under /static/.',
  },
  replace: {
    type: 'condition',
    default: false,
    help: 'Whether former files with this name in this directory are deleted. Otherwise all are stored, and the newest has the name.',
  },
} as const satisfies InPins

type Context = Pick<FlowContext, 'services' | 'session' | 'signal' | 'deadline' | 'now'>

/** On whose behalf a file is stored or deleted. */
export function authorOf({ session }: Pick<FlowContext, 'session'>) {
  return session.origin.user ?? { guid: '', username: '' }
}

/**
 * The same, with the attempts of the block: only where the bucket failed before the file had a record. `file`: its content is
 * begun again for each attempt.
 */
export function storeFileAgain(
  context: Context,
  inputs: Parameters<typeof attemptsIn>[0] & { readonly replace: boolean },
  file: () => NewFile,
): Promise<JsonObject> {
  const attempts = attemptsIn(inputs, context)
  return withAttempts(attempts, isFileStoreUnavailable, () => storeFile(context, file(), inputs.replace))
}

/** Stores a file as an asset; gives what fields of the type file hold of it. */
export async function storeFile(context: Context, file: NewFile, replace: boolean): Promise<JsonObject> {
  const replaced = replace ? await filesAt(context.session, file) : []
  return fileValue(await context.services.files.save({ ...file, replaced }, authorOf(context)))
}

/** As a field of a document holds a file. */
export function fileValue(record: JsonObject): JsonObject {
  const { name = null, type = null, size = null } = record
  return { guid: guidOf(record), name, type, size }
}

function filesAt(session: Context['session'], { name, directory }: NewFile): Promise<readonly JsonObject[]> {
  const query: Query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'name', value: name },
      { kind: 'term', field: 'directory', value: directory },
    ],
  }
  return findAll(session, systemStorages.assets, query, MOST_REPLACED)
}
