/** Before a field changes: the stored documents that it would refuse. */

import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isAutomatic, isEmptyValue } from '../../shared/field-rule.ts'
import { pauses } from '../../shared/in-turns.ts'
import type { JsonObject } from '../../shared/json.ts'
import { search } from '../../shared/query.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import type { FieldChange } from './unique-fields.ts'

/** The first page is small, because documents may be of 16 MiB each. */
const FIRST = 10
const MOST = 500
/** Characters of a page that are aimed at: parsing them takes about 5 ms. */
const PAGE = 512 * 1024
/** Of the documents that do not fit. */
const MOST_LISTED = 100

interface Misfits {
  readonly total: number
  readonly documents: readonly JsonObject[]
  /** What is wrong with the first one. */
  readonly problem: string
}

/**
 * Throws CONFLICT that lists the present documents which do not fit what the field will ask for. Goes through them page by
 * page; documents are read and written meanwhile. Documents that are older than a field may be without it; they may not when
 * it is made required later.
 */
export async function checkStored(database: Database, { before, after }: FieldChange): Promise<void> {
  if (after?.storage === undefined || asksSame(before, after)) return
  // What is stored in a field that Quoin writes is replaced by the next write, but for numbers.
  if (isAutomatic(after) && after.type !== 'autonumber') return
  if (!database.has(after.storage)) return
  const asks = after.required && before?.required === false
  // What a reference asks for is checked where references are.
  if (after.reference && !asks) return
  const misfits = await misfitsOf(database, after.storage, { ...after, required: asks })
  if (misfits.total > 0) throw misfitError(after, before, misfits)
}

function asksSame(before: FieldRule | undefined, after: FieldRule): boolean {
  return before !== undefined && JSON.stringify(askedOf(before)) === JSON.stringify(askedOf(after))
}

function askedOf({ name, storage, type, required, limits }: FieldRule) {
  return { name, storage, type, required, limits: Object.entries(limits).sort() }
}

async function misfitsOf(database: Database, storage: string, rule: FieldRule): Promise<Misfits> {
  const session = database.session()
  const path = parseFieldPath(rule.name)
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const documents: JsonObject[] = []
  let total = 0
  let first = ''
  let limit = FIRST
  let after: string | undefined
  const pause = pauses()
  do {
    const found = await session.find(storage, search({ sort, limit, ...(after !== undefined && { after }) }))
    for (const document of documentsOf(found)) {
      const paused = pause()
      if (paused) await paused
      const value = valueAt(document, path)
      if (!rule.required && isEmptyValue(value)) continue
      const problem = fieldValueProblem(rule, value, patternBudget())
      if (problem === undefined) continue
      total += 1
      first ||= problem
      if (documents.length < MOST_LISTED) documents.push({ guid: guidOf(document), problem })
    }
    after = found.next()
    const size = found.documents.text.length / Math.max(1, found.length)
    limit = Math.max(1, Math.min(MOST, Math.floor(PAGE / size)))
  } while (after !== undefined)
  return { total, documents, problem: first }
}

function misfitError(
  { name, storage = '', required }: FieldRule,
  before: FieldRule | undefined,
  { total, documents, problem }: Misfits,
): QuoinError {
  const what = total === 1 ? '1 document' : `${total} documents`
  const field = before !== undefined && required && !before.required ? 'required' : 'type'
  return new QuoinError(
    'CONFLICT',
    `The storage ${storage} holds ${what} that do not fit: ${name} ${problem}. Change or remove those that details lists.`,
    { fields: [field], details: { total, documents } },
  )
}
