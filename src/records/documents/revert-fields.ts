/**
 * Puts former values back in many documents, in one transaction: each names the values that its fields hold and those that they
 * get. So undo and redo are the same request with the two exchanged. A field that holds something else by now stays as it is, and
 * is listed, and so is a document whose change is refused.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Pause, pauses, runCooperatively } from '../../shared/cooperative.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { type Attempt, refusalOf, transactEach } from '../../storage/create-all.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn, objectsIn, updateHashOf } from '../../storage/document-fields.ts'
import { auditMany } from '../audited-documents.ts'
import type { Actor } from '../records.ts'
import { type PermittedContext, storageNamed } from '../storage-records.ts'

/** Documents that are read at once: the first are few, because each may be of 16 MiB. */
const FIRST = 10
const MOST = 200
/** Characters of a page that are aimed at. */
const PAGE = 512 * 1024
/** How often a document is written again that others change at the same time. */
const MOST_TRIES = 5

/** Values by dotted name. */
export interface FormerValues {
  readonly guid: string
  readonly from: JsonObject
  readonly to: JsonObject
}

export interface RevertedFields {
  readonly changes: readonly FormerValues[]
  /** Guids of removed documents that are there again afterwards. */
  readonly restore: readonly string[]
}

/** What stays as it is. */
interface Left {
  readonly guid: string
  /** Empty where it is the whole document. */
  readonly fields: readonly string[]
  readonly message: string
}

/** `storage`: its guid. DENIED_BY_RULE for the whole of it where a permission refuses one document. */
export async function revertFields(
  context: PermittedContext,
  guid: string,
  requested: RevertedFields,
  { by, run }: { readonly by: Actor; readonly run: string },
): Promise<{ readonly count: number; readonly run: string; readonly left: readonly Left[] }> {
  checkRequested(requested)
  const storage = await storageNamed(context, guid)
  return transactEach(
    context.records.database,
    async (session, attempt) => {
      const left: Left[] = []
      const restored = await restoreEach(session, storage, requested.restore, { left, attempt })
      const changed = await changeEach(session, storage, requested.changes, { left, attempt })
      const names = new Set(requested.changes.flatMap(({ to }) => Object.keys(to)))
      const mutations = setFields(Object.fromEntries([...names].map((name) => [name, null])))
      const record = (kind: 'update' | 'restore', documents: number) =>
        documents > 0 &&
        auditMany(
          context.audit,
          session,
          { storage, kind, mutations: kind === 'update' ? mutations : [] },
          { documents },
        )
      await record('restore', restored)
      await record('update', changed)
      return { count: restored + changed, run, left }
    },
    { user: by, run },
  )
}

function checkRequested({ changes, restore }: RevertedFields): void {
  const guids = [...changes.map(({ guid }) => guid), ...restore]
  if (guids.length === 0) throw invalidField('changes', 'One of changes and restore must name a document.')
  if (new Set(guids).size < guids.length)
    throw invalidField('changes', 'Each document can be named once only.')
  for (const { to } of changes)
    for (const name of Object.keys(to)) {
      const problem = fieldNameProblem(name) ?? (parseFieldPath(name)[0] === '_meta' && 'is written by Quoin')
      if (problem) throw invalidField('changes', `The field name ${JSON.stringify(name)} ${problem}.`)
    }
}

interface Reverting {
  readonly left: Left[]
  readonly attempt: Attempt
}

async function restoreEach(
  session: Session,
  storage: string,
  guids: readonly string[],
  { left, attempt }: Reverting,
): Promise<number> {
  const pause = pauses()
  let count = 0
  for (const [at, guid] of guids.entries()) {
    await pause()
    const following = guids.slice(at + 1)
    const problem = await refused(guid, attempt, async () => {
      const { outcome } = await session.setRemoved(storage, guid, false, { following })
      if (outcome === 'written') count += 1
      // It is there already, or it is gone: a user who does not see it learns nothing else.
      return outcome === 'written' || (await session.get(storage, guid)) ? undefined : gone(guid)
    })
    if (problem) left.push(problem)
  }
  return count
}

async function changeEach(
  session: Session,
  storage: string,
  changes: readonly FormerValues[],
  { left, attempt }: Reverting,
): Promise<number> {
  const pause = pauses()
  let count = 0
  let limit = FIRST
  for (let at = 0; at < changes.length; ) {
    const page = changes.slice(at, at + limit)
    const { documents, characters } = await documentsNow(session, storage, page, pause)
    for (const [i, change] of page.entries()) {
      await pause()
      const following = page.slice(i + 1).map(({ guid }) => guid)
      const problem = await refused(change.guid, attempt, async () => {
        const written = await putOne(session, storage, change, documents.get(change.guid), following)
        if (written.isWritten) count += 1
        return written.left
      })
      if (problem) left.push(problem)
    }
    at += page.length
    limit = Math.max(1, Math.min(MOST, Math.floor(PAGE / Math.max(1, characters / page.length))))
  }
  return count
}

async function documentsNow(
  session: Session,
  storage: string,
  page: readonly FormerValues[],
  pause: Pause,
): Promise<{ readonly documents: ReadonlyMap<string, JsonObject>; readonly characters: number }> {
  const query = { kind: 'terms', field: '_meta.guid', values: page.map(({ guid }) => guid) } as const
  const found = await session.find(storage, search({ query, limit: page.length, includeRemoved: true }))
  const characters = found.documents.text.length
  const documents = objectsIn(await runCooperatively(found.documents.inSteps(), pause))
  return { documents: new Map(documents.map((one) => [guidOf(one), one])), characters }
}

interface WrittenOne {
  readonly isWritten: boolean
  readonly left: Left | undefined
}

async function putOne(
  session: Session,
  storage: string,
  change: FormerValues,
  read: JsonObject | undefined,
  following: readonly string[],
): Promise<WrittenOne> {
  const { guid } = change
  let now = read
  for (let tries = 1; ; tries += 1) {
    if (!now) return { isWritten: false, left: gone(guid) }
    if (isRemoved(now))
      return { isWritten: false, left: { guid, fields: [], message: 'It was removed since.' } }
    const { fields, changed } = compared(now, change)
    const left =
      changed.length > 0
        ? { guid, fields: changed, message: `It was changed since: ${listed(changed)}.` }
        : undefined
    const mutations = setFields(fields)
    if (mutations.length === 0) return { isWritten: false, left }
    const condition = { updateHash: updateHashOf(now), following }
    const written = await session.update(storage, guid, mutations, condition)
    if (written.outcome === 'written') return { isWritten: true, left }
    if (tries === MOST_TRIES)
      return {
        isWritten: false,
        left: { guid, fields: [], message: 'Other clients change it all the time.' },
      }
    now = written.outcome === 'not_found' ? undefined : documentOf(written.document)
  }
}

/** What to write to a document, and the fields that hold neither value by now. Missing counts as null. */
function compared(now: JsonObject, { from, to }: FormerValues) {
  const fields: { [name: string]: JsonValue } = {}
  const changed: string[] = []
  for (const [name, value = null] of Object.entries(to)) {
    const present = valueAt(now, parseFieldPath(name)) ?? null
    if (isDeepStrictEqual(present, value)) continue
    const former = Object.hasOwn(from, name) ? (from[name] ?? null) : null
    if (isDeepStrictEqual(present, former)) fields[name] = value
    else changed.push(name)
  }
  return { fields, changed }
}

/** An error that is one document's is its problem; one of a permission is that of the whole request, and says whose it is. */
async function refused(
  guid: string,
  attempt: Attempt,
  work: () => Promise<Left | undefined>,
): Promise<Left | undefined> {
  try {
    return await attempt(guid, work)
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'DENIED_BY_RULE')
      throw new QuoinError('DENIED_BY_RULE', `${error.message} Nothing was changed.`, {
        details: { documents: [{ guid, problem: error.message }] },
      })
    const { fields = [], message } = refusalOf(error)
    return { guid, fields, message }
  }
}

function isRemoved({ _meta: meta }: JsonObject): boolean {
  return isJsonObject(meta) && numberIn(meta.removed) > 0
}

function gone(guid: string): Left {
  return { guid, fields: [], message: 'It was deleted since.' }
}

const MOST_LISTED = 5

function listed(names: readonly string[]): string {
  const more = names.length - MOST_LISTED
  return [...names.slice(0, MOST_LISTED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}
