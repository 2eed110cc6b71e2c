/**
 * Verdicts of the rules of one write. Where rules lead to other documents, these are loaded before the write, for the document as it is
 * then: the write compares, and is judged once more when another client has changed the document meanwhile.
 */
import { QuoinError } from '../../shared/errors.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { updateHashOf } from '../../storage/document-fields.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { LedDocuments } from './led-documents.ts'
import type { StorageView, WriteName } from './storage-view.ts'

export interface Judge {
  /** Whether it was judged as it was before another client has changed it: the write is to throw StaleVerdict. */
  isStale(document: StoredJson): boolean
  sees(document: StoredJson): boolean
  allows(name: WriteName, document: StoredJson): boolean
}

/** Of one write, when other clients change the document again and again. */
const MOST_TRIES = 3

/** The write left the document alone, which is to be judged once more. */
export class StaleVerdict extends Error {}

/** Two statements more for each write: one reads the document, one those that it refers to (one for each further storage and step). */
export function judged<T>(
  session: Session,
  view: StorageView,
  { guid, name }: { readonly guid: string; readonly name: WriteName },
  write: (judge: Judge) => MaybePromise<T>,
  tries = MOST_TRIES,
): MaybePromise<T> {
  if (!view.leads.any) return write({ ...view, isStale: never })
  return andThen(session.get(view.storage, guid, { removed: true }), (before) =>
    andThen(judgeOf(session, view, before, name), (judge) =>
      recover(
        () => write(judge),
        (error): MaybePromise<T> => {
          if (!(error instanceof StaleVerdict)) throw error
          if (tries > 1) return judged(session, view, { guid, name }, write, tries - 1)
          const message = `Another client changed the document ${guid}. Read it again, then change it.`
          throw new QuoinError('CONFLICT', message)
        },
      ),
    ),
  )
}

const never = () => false

function judgeOf(
  session: Session,
  view: StorageView,
  before: StoredJson | undefined,
  name: WriteName,
): MaybePromise<Judge> {
  const led = new LedDocuments(session)
  const hash = before && updateHashOf(documentOf(before))
  const judge: Judge = {
    isStale: (document) => updateHashOf(documentOf(document)) !== hash,
    sees: (document) => view.sees(document, led.lookup),
    allows: (rule, document) => view.allows(rule, document, led.lookup),
  }
  if (before === undefined) return judge
  const decide = () => [view.sees(before, led.lookup), view.allows(name, before, led.lookup)]
  return andThen(led.decided(decide), () => judge)
}

/** Which of these documents, as the session has just written them, the rule allows. */
export function allowed(
  session: Session,
  view: StorageView,
  name: WriteName,
  documents: readonly StoredJson[],
): MaybePromise<readonly boolean[]> {
  if (!view.leads.any) return documents.map((document) => view.allows(name, document))
  const led = new LedDocuments(session)
  return led.decided(() => documents.map((document) => view.allows(name, document, led.lookup)))
}
