/**
 * What a document was before a run wrote to it, by the run's records in its history. Refused where the document is no longer as
 * the run left it: what others have written since must not be lost.
 */
import { isDeepStrictEqual } from 'node:util'
import { QuoinError } from '../../shared/errors.ts'
import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { MOST_REVISIONS } from './document-revisions.ts'

/** undefined: there is none. `fields`: without `_meta`. `meta`: of one that was deleted, what a new one would not have of itself. */
export type DocumentState =
  | {
      readonly fields: JsonObject
      readonly removed: boolean
      readonly meta?: { readonly cms: number; readonly expiry: number }
    }
  | undefined

export type Reversed = { readonly state: DocumentState } | { readonly problem: string }

type Fields = { [name: string]: JsonValue }
type Revisions = readonly JsonObject[]

const CHANGED = 'It was changed since.'

/** `records`: of the run, the newest first. */
export function reversedDocument(now: DocumentState, records: readonly JsonObject[]): Reversed {
  let state: (DocumentState & { fields: Fields; removed: boolean }) | undefined = now && {
    fields: copyOf(now.fields),
    removed: now.removed,
  }
  for (const [at, record] of records.entries()) {
    const revisions = objectsIn(record.revisions)
    if (revisions.some(({ value, previous_value }) => isLeftOut(value) || isLeftOut(previous_value)))
      return { problem: 'Its history leaves out a value that is too long.' }
    if (revisions.some(({ key }) => fieldNameProblem(textIn(key)) !== undefined))
      return { problem: 'Its history has a name that no path leads to.' }
    if (revisions.length >= MOST_REVISIONS && record.action !== 'created')
      return { problem: `Its history leaves out changes: it has ${MOST_REVISIONS} of one write.` }
    if (record.action === 'deleted') {
      if (state) return { problem: 'There is a document with its guid again.' }
      // Older records do not say what it was.
      const removed = record.removed ?? records[at + 1]?.action === 'removed'
      const { cms, expiry } = record
      const meta = typeof cms === 'number' && typeof expiry === 'number' ? { meta: { cms, expiry } } : {}
      state = { fields: {}, removed: removed === true, ...meta }
      reverse(state.fields, revisions)
      continue
    }
    if (!state) return { problem: 'It was deleted since.' }
    const problem = reverseWrite(textIn(record.action), state, revisions)
    if (problem !== undefined) return { problem }
    if (record.action === 'created') state = undefined
  }
  return { state }
}

function reverseWrite(
  action: string,
  state: { fields: Fields; removed: boolean },
  revisions: Revisions,
): string | undefined {
  switch (action) {
    case 'created': {
      if (state.removed) return 'It was removed since.'
      const left = copyOf(state.fields)
      return reverse(left, revisions) && Object.keys(left).length === 0 ? undefined : CHANGED
    }
    case 'removed':
      if (!state.removed) return 'It was restored since.'
      state.removed = false
      return undefined
    case 'restored':
      if (state.removed) return 'It was removed since.'
      state.removed = true
      return undefined
    default:
      return reverse(state.fields, revisions) ? undefined : CHANGED
  }
}

/** Whether the fields were as the revisions left them. */
function reverse(fields: Fields, revisions: Revisions): boolean {
  // What was taken from the end of a list comes back in the order in which it stood there.
  for (const { key, type, previous_value } of revisions) {
    if (type !== 'array.remove') continue
    const list = valueAt(fields, parseFieldPath(textIn(key)))
    if (!Array.isArray(list)) return false
    put(fields, textIn(key), [...list, previous_value ?? null])
  }
  return revisions.toReversed().every((revision) => reverseOne(fields, revision))
}

function reverseOne(fields: Fields, { key, type, value = null, previous_value = null }: JsonObject): boolean {
  const name = textIn(key)
  const is = valueAt(fields, parseFieldPath(name))
  if (type === 'array.remove') return true
  if (type === 'array.add') {
    if (!Array.isArray(is) || !isDeepStrictEqual(is.at(-1), value)) return false
    return put(fields, name, is.slice(0, -1))
  }
  if (type === 'remove.field') return is === undefined && put(fields, name, previous_value)
  if (!isDeepStrictEqual(is, value)) return false
  // The history says null too of a field that was not there; filters ask for both alike.
  return put(fields, name, previous_value === null ? undefined : previous_value)
}

/** Without a value the field goes. False where something around it is no object any more. */
function put(fields: Fields, name: string, value: JsonValue | undefined): boolean {
  const [top = ''] = parseFieldPath(name)
  const mutation = value === undefined ? ({ op: 'remove' } as const) : ({ op: 'set', value } as const)
  try {
    const { [top]: changed } = applyMutations(fields, [{ ...mutation, field: name }])
    if (changed === undefined) delete fields[top]
    else fields[top] = changed
    return true
  } catch (error) {
    if (error instanceof QuoinError) return false
    throw error
  }
}

function copyOf({ _meta, ...fields }: JsonObject): Fields {
  return fields
}

function isLeftOut(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && typeof value.left_out === 'number' && Object.keys(value).length === 1
}
