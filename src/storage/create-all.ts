/** Many new documents through one session: in a few statements where the engine can, else one by one. */
import { QuoinError } from '../shared/errors.ts'
import { type MaybePromise, recover } from '../shared/maybe-promise.ts'
import type { CreatedAll, Database, NewDocument, Origin, Session, SessionShortcuts } from './database.ts'
import type { StoredJson } from './stored-json.ts'
import { transactAgain } from './transact.ts'

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

/** The error again if it is one document's: then nothing of the session was touched. Throws any other, and {@link HalfWritten}. */
export function refusalOf(error: unknown): QuoinError {
  if (isRefusal(error) && !(error instanceof HalfWritten)) return error
  throw error
}

function isRefusal(error: unknown): error is QuoinError {
  return error instanceof QuoinError && (error.code === 'INVALID_BODY' || error.code === 'CONFLICT')
}

/**
 * A change of one document that was refused when others had been written for it, or a part of it: what the session has written must not
 * be committed. {@link transactEach} does it again without that document.
 */
export class HalfWritten extends QuoinError {
  readonly refusal: QuoinError

  constructor(refusal: QuoinError) {
    const { code, message, fields, reasons, problems, details } = refusal
    super(code, message, {
      ...{ cause: refusal },
      ...(fields && { fields }),
      ...(reasons && { reasons }),
      ...(problems && { problems }),
      ...(details && { details }),
    })
    this.refusal = refusal
  }
}

/** What is thrown for an error behind the first write of one document's change. */
export function behindFirstWrite(error: unknown): unknown {
  return isRefusal(error) ? new HalfWritten(error) : error
}

/** Does the change of a document, by its guid; throws at once what refused it before. */
export type Attempt = <T>(guid: string, change: () => MaybePromise<T>) => MaybePromise<T>

/**
 * As `transactAgain`, for work that leaves out documents whose change is refused: where it is refused behind a first write, all is rolled
 * back and done again without that document.
 */
export async function transactEach<T>(
  database: Pick<Database, 'session'>,
  work: (session: Session, attempt: Attempt) => Promise<T>,
  origin: Origin = {},
): Promise<T> {
  const refused = new Map<string, QuoinError>()
  const attempt: Attempt = (guid, change) =>
    recover(
      () => {
        const known = refused.get(guid)
        if (known) throw known
        return change()
      },
      (error) => {
        if (error instanceof HalfWritten) refused.set(guid, error.refusal)
        throw error
      },
    )
  for (;;) {
    const before = refused.size
    try {
      return await transactAgain(database, (session) => work(session, attempt), origin)
    } catch (error) {
      if (!(error instanceof HalfWritten) || refused.size === before) throw error
    }
  }
}
