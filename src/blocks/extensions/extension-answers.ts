/** What blocks of extensions ask for while they run: requests over a connection, and documents. Each is held against what was permitted. */
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import { type Query, type Scalar, type SortKey, search } from '../../shared/query.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import type { FlowContext } from '../context.ts'
import { type Answer, answerOf, callOver, Refused } from '../logic/asking-code.ts'
import { builderStorage } from '../names.ts'
import { writtenMutations } from '../storage/document-writes.ts'

/** What the blocks of an extension may reach. Nothing that is not named. */
export interface Permissions {
  /** Hosts of connections: `api.example.com`, `*.example.com`, or `*` for any. */
  readonly hosts: readonly string[]
  /** Storages whose documents they may read: names, or `*` for any of builders. */
  readonly read: readonly string[]
  /** The same for changes. */
  readonly write: readonly string[]
}

export interface Asking {
  readonly permissions: Permissions
  readonly effects: { readonly reads?: true; readonly writes?: string; readonly calls?: true }
  /** Of the block. */
  readonly inputs: Readonly<Record<string, unknown>>
}

const MOST_FOUND = 100
/** Characters of documents that are read, which go into that input too. */
const MOST_READ = 512 * 1024
/** `request`: JSON, a list of what is asked for and its words. */
export function extensionAnswer(request: string, asking: Asking, context: FlowContext): Promise<Answer> {
  const { permissions, effects, inputs } = asking
  return answerOf(request, context.signal, (kind, words) => {
    if (kind !== 'call') return documents(kind, words, asking, context)
    if (!effects.calls) throw new Refused('the block does not declare the effect calls')
    return callOver(words, { hosts: permissions.hosts, inputs }, context)
  })
}

async function documents(
  kind: JsonValue | undefined,
  words: readonly JsonValue[],
  { permissions, effects }: Asking,
  context: FlowContext,
): Promise<string | undefined> {
  const [name, first, second] = words
  const writes = kind === 'create' || kind === 'update' || kind === 'remove'
  const declared = writes ? effects.writes : effects.reads
  if (!declared) throw new Refused(`the block does not declare the effect ${writes ? 'writes' : 'reads'}`)
  const storage = builderStorage(typeof name === 'string' ? name : '')
  const permitted = writes ? permissions.write : permissions.read
  if (!permitted.includes(storage) && !permitted.includes('*'))
    throw new Refused(`the extension may not ${writes ? 'change' : 'read'} documents of ${storage}`)
  const { session } = context
  const textOf = (document: StoredJson | undefined) => document?.text
  switch (kind) {
    case 'get':
      return readable(textOf(await session.get(storage, guidIn(first))))
    case 'search':
      return readable((await session.find(storage, searchIn(first))).documents.text)
    case 'create':
      return textOf(await session.create(storage, fieldsIn(first)))
    case 'update':
      return andThen(session.update(storage, guidIn(first), fieldsIn(second)), (written) =>
        written.outcome === 'not_found' ? undefined : written.document.text,
      )
    case 'remove':
      return andThen(session.setRemoved(storage, guidIn(first), true), ({ outcome }) =>
        JSON.stringify(outcome === 'written'),
      )
    default:
      throw new Refused('there is no such question')
  }
}

/** 100 documents of 300 KB took 0.9 s in one turn to become the input of a call that was then refused. */
function readable(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= MOST_READ) return text
  throw new Refused(`what was read has more than ${MOST_READ} characters; ask for fewer documents`)
}

function guidIn(word: JsonValue | undefined): string {
  if (typeof word === 'string' && word !== '' && word.length <= 64) return word
  throw new Refused('the guid must be a text')
}

function fieldsIn(word: JsonValue | undefined) {
  if (!isJsonObject(word)) throw new Refused('the fields must be an object')
  return writtenMutations({ set: word, mutations: undefined })
}

/** `{ where: { status: 'open', price: { gte: 5 } }, sort: ['-created'], limit: 20 }` */
function searchIn(word: JsonValue | undefined) {
  const { where = {}, sort = [], limit = 20, after } = isJsonObject(word) ? word : {}
  if (!isJsonObject(where)) throw new Refused('where must be an object of fields and values')
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 0 || limit > MOST_FOUND)
    throw new Refused(`limit must be a whole number from 0 to ${MOST_FOUND}`)
  if (!Array.isArray(sort) || sort.length > 5) throw new Refused('sort must be a list of at most 5 fields')
  if (after !== undefined && typeof after !== 'string') throw new Refused('after must be a text')
  const queries = Object.entries(where).map(([field, value]) => queryOf(field, value))
  if (queries.length > 20) throw new Refused('where must have at most 20 fields')
  return search({
    ...(queries.length > 0 && { query: { kind: 'and', queries } as const }),
    sort: sort.map((one: JsonValue): SortKey => {
      const key = String(one)
      const field = key.startsWith('-') ? key.slice(1) : key
      return { field, order: key.startsWith('-') ? 'desc' : 'asc', missing: 'last' }
    }),
    limit,
    ...(after !== undefined && { after }),
  })
}

function queryOf(field: string, value: JsonValue | undefined): Query {
  if (isScalar(value)) return { kind: 'term', field, value }
  if (Array.isArray(value) && value.length <= 100 && value.every(isScalar))
    return { kind: 'terms', field, values: value }
  const bounds = isJsonObject(value) ? Object.entries(value) : []
  const fits = bounds.length > 0 && bounds.every(([bound, to]) => /^[gl]te?$/.test(bound) && isBound(to))
  if (!fits)
    throw new Refused(
      `where.${field} must be a value, a list of at most 100, or an object of gt, gte, lt and lte`,
    )
  return { kind: 'range', field, bounds: Object.fromEntries(bounds) }
}

function isScalar(value: JsonValue | undefined): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function isBound(value: JsonValue | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
