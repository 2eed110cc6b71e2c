/** Before a field changes: the stored documents that it would refuse. */

import { pauses } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import {
  type FieldConversion,
  type FieldRule,
  fieldValueProblem,
  isAutomatic,
  isEmptyValue,
} from '../../shared/field-rule.ts'
import { convertedValue } from '../../shared/fields/converted-value.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
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

export interface StoredFit {
  /** Present documents that have a value. */
  readonly documents: number
  /** Of those, how many get another value by the conversion. */
  readonly converted: number
  /** How many fit neither as they are nor converted. */
  readonly total: number
  /** The first of these. */
  readonly misfits: readonly Misfit[]
}

export interface Misfit {
  readonly guid: string
  readonly value: JsonValue
  readonly problem: string
}

/**
 * Throws CONFLICT that lists the present documents which do not fit what the field will ask for. Documents that are older than a
 * field may be without it; they may not when it is made required later.
 */
export async function checkStored(database: Database, change: FieldChange): Promise<void> {
  const { before, after } = change
  const rule = askedBy(database, change)
  if (!rule || !after) return
  const fit = await storedFit(database, rule)
  if (fit.total > 0) throw misfitError(after, before, fit)
}

/** What stored documents are to be held against; undefined where the change asks nothing more of them. */
export function askedBy(database: Database, { before, after }: FieldChange): FieldRule | undefined {
  if (after?.storage === undefined || asksSame(before, after)) return undefined
  // What is stored in a field that Quoin writes is replaced by the next write, but for numbers.
  if (isAutomatic(after) && after.type !== 'autonumber') return undefined
  if (!database.has(after.storage)) return undefined
  const asks = after.required && before?.required === false
  // What a reference asks for is checked where references are.
  if (after.reference && !asks) return undefined
  return { ...after, required: asks }
}

export function asksSame(before: FieldRule | undefined, after: FieldRule): boolean {
  return before !== undefined && JSON.stringify(askedOf(before)) === JSON.stringify(askedOf(after))
}

function askedOf({ name, storage, type, required, limits }: FieldRule) {
  return { name, storage, type, required, limits: Object.entries(limits).sort() }
}

/** Goes through the documents page by page; they are read and written meanwhile. */
export async function storedFit(
  database: Database,
  rule: FieldRule,
  conversion?: FieldConversion,
): Promise<StoredFit> {
  const path = parseFieldPath(rule.name)
  const misfits: Misfit[] = []
  let [documents, converted, total] = [0, 0, 0]
  const pause = pauses()
  for await (const page of storedPages(database, rule.storage ?? ''))
    for (const document of page) {
      const paused = pause()
      if (paused) await paused
      const value = valueAt(document, path)
      if (value !== undefined && value !== null) documents += 1
      const fits = fitOf(rule, value, conversion)
      if (fits === 'converted') converted += 1
      if (typeof fits === 'string') continue
      total += 1
      if (misfits.length < MOST_LISTED)
        misfits.push({ guid: guidOf(document), value: value ?? null, problem: fits.problem })
    }
  return { documents, converted, total, misfits }
}

/** The present documents, from the oldest on, a page in some milliseconds. */
export async function* storedPages(
  database: Database,
  storage: string,
): AsyncGenerator<readonly JsonObject[]> {
  const session = database.session()
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  let limit = FIRST
  let after: string | undefined
  do {
    const found = await session.find(storage, search({ sort, limit, ...(after !== undefined && { after }) }))
    yield documentsOf(found)
    after = found.next()
    const size = found.documents.text.length / Math.max(1, found.length)
    limit = Math.max(1, Math.min(MOST, Math.floor(PAGE / size)))
  } while (after !== undefined)
}

function fitOf(
  rule: FieldRule,
  value: JsonValue | undefined,
  conversion: FieldConversion | undefined,
): 'fits' | 'converted' | { readonly problem: string } {
  if (!rule.required && (value === undefined || value === null)) return 'fits'
  if (!conversion) {
    if (!rule.required && isEmptyValue(value)) return 'fits'
    const problem = fieldValueProblem(rule, value, patternBudget())
    return problem === undefined ? 'fits' : { problem }
  }
  const read = convertedValue(rule, value ?? null, conversion)
  if ('problem' in read) return read
  return read.value === value ? 'fits' : 'converted'
}

export function misfitError(
  { name, storage = '', required }: FieldRule,
  before: FieldRule | undefined,
  { total, misfits }: Pick<StoredFit, 'total' | 'misfits'>,
): QuoinError {
  const what = total === 1 ? '1 document' : `${total} documents`
  const field = before !== undefined && required && !before.required ? 'required' : 'type'
  return new QuoinError(
    'CONFLICT',
    `The storage ${storage} holds ${what} that do not fit: ${name} ${misfits[0]?.problem}. Change or remove those that details lists.`,
    {
      fields: [field],
      details: { total, documents: misfits.map(({ guid, problem }) => ({ guid, problem })) },
    },
  )
}
