/** Many new documents through one session: in a few statements where the engine can, else one by one. */
import { QuoinError } from '../shared/errors.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { CreatedAll, NewDocument, Session, SessionShortcuts } from './database.ts'
import type { StoredJson } from './stored-json.ts'

/** As `session.create` for each in order, until one is refused. */
export function createAll(
  session: Session & Pick<SessionShortcuts, 'createAll'>,
  storage: string,
  documents: readonly NewDocument[],
): MaybePromise<CreatedAll> {
  return session.createAll
    ? session.createAll(storage, documents)
    : createOneByOne(session, storage, documents)
}

async function createOneByOne(
  session: Session,
  storage: string,
  requested: readonly NewDocument[],
): Promise<CreatedAll> {
  const documents: StoredJson[] = []
  for (const { mutations, options } of requested) {
    try {
      documents.push(await session.create(storage, mutations, options))
    } catch (error) {
      return { documents, refused: refusalOf(error) }
    }
  }
  return { documents, refused: undefined }
}

/** The error again if it is one document's: then nothing else of the session was touched. Throws any other. */
export function refusalOf(error: unknown): QuoinError {
  if (error instanceof QuoinError && (error.code === 'INVALID_BODY' || error.code === 'CONFLICT'))
    return error
  throw error
}
