/**
 * A test of flows from a recorded run: what the run read is there before, what other servers replied is replied again, and what came
 * of it is expected. Guids and times that the run made are other ones in a test, so of those only that they are there is expected.
 */
import type { PinValues, Run, Step } from '../api/blueprints/runs.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

export interface RecordedScenario {
  /** The content of a `*.test.json`. */
  readonly scenario: JsonObject
  /** What a person should look at, for it may be missing or wrong. */
  readonly notes: readonly string[]
}

const API = '/api/v1'
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
/** What a time in a value may differ from those of the run. */
const AROUND_MS = 60_000
const MASK = '•••'
/** Headers that a flow may look at; the others belong to the connection. */
const RECORDED_HEADER = /^(x-|idempotency-key$|accept-language$|if-)/

const readers = new Set(['function_search', 'function_search_single_result', 'function_get_document'])
const removers = new Set(['function_remove_document', 'function_delete_document'])
const manyWriters = /^function_(update|remove|restore|delete)_many$/

/** `groups`: names by guid. Throws an Error for a run that no step of a test can start. */
export function scenarioOfRun(run: Run, groups: ReadonlyMap<string, string>): RecordedScenario {
  const notes = new Set<string>()
  if (run.cut) notes.add('The trace was shortened: documents or replies may be missing.')
  const seen = seenDocuments(run.steps, notes)
  const input = seen.filter(({ before }) => before !== undefined)
  const known = new Set(input.map(({ guid }) => guid))
  const expected = expectation(run, known, notes)
  const user = userOf(run, groups, notes)
  const replies = callsOf(run.steps, known, expected, notes)
  const mails = run.steps
    .filter(({ type }) => type === 'send_mail')
    .map(({ in: pins }) => mailOf(pins, expected))
  const { status, body } = run.reply ?? {}
  const step = {
    ...startOf(run, notes),
    expect: {
      ...(run.request && status !== undefined && { status }),
      ...(run.request ? entry('body', body, expected) : entry('body', run.result, expected)),
      ...(seen.some(({ isWritten }) => isWritten) && { documents: documentsAfter(seen, expected) }),
      ...(mails.length > 0 && { mails }),
      ...(replies.length > 0 && { calls: replies.map(({ call }) => call) }),
    },
  }
  return {
    scenario: {
      name: `${run.label}, as recorded`,
      given: {
        now: run.started,
        ...(user && { users: [user] }),
        ...(input.length > 0 && { documents: documentsBefore(input) }),
        ...(replies.length > 0 && { replies: replies.map(({ reply }) => reply) }),
      },
      steps: [step],
    },
    notes: [...notes],
  }
}

interface SeenDocument {
  readonly storage: string
  readonly guid: string
  readonly created: number
  /** undefined: the run made it. */
  readonly before: JsonObject | undefined
  after: JsonObject | undefined
  isWritten: boolean
}

/** The oldest first, as a test lists them. */
function seenDocuments(steps: readonly Step[], notes: Set<string>): SeenDocument[] {
  const seen = new Map<string, SeenDocument>()
  for (const { type, in: pins, out } of steps) {
    const storage = pins.storage
    if (typeof storage !== 'string') continue
    if (manyWriters.test(type))
      notes.add(`A change of many documents of ${storage}: add the documents that it changes.`)
    for (const document of documentsIn(out)) {
      const guid = textAt(document._meta, 'guid')
      const known = seen.get(guid)
      const isWritten = type.startsWith('function_') && !readers.has(type)
      if (known) {
        if (isWritten) Object.assign(known, { after: removers.has(type) ? undefined : document, isWritten })
        continue
      }
      const isNew = type === 'function_create_document_from_mutations' || isFresh(document)
      const one = { storage, guid, created: numberAt(document._meta, 'cms'), isWritten }
      if (isWritten && !isNew)
        notes.add(`A document of ${storage} is given as the run left it: it was not read before.`)
      seen.set(guid, {
        ...one,
        before: isWritten && isNew ? undefined : document,
        after: removers.has(type) ? undefined : document,
      })
    }
  }
  return [...seen.values()].sort((a, b) => a.created - b.created)
}

/** Never changed since it was made: of an upsert that created. */
function isFresh({ _meta: meta }: JsonObject): boolean {
  return numberAt(meta, 'cms') === numberAt(meta, 'ums')
}

function documentsIn({ document, documents }: PinValues): JsonObject[] {
  const all = Array.isArray(documents) ? documents : document === undefined ? [] : [document]
  return all.filter((one): one is JsonObject => isJsonObject(one) && textAt(one._meta, 'guid') !== '')
}

function documentsBefore(seen: readonly SeenDocument[]): JsonObject {
  const documents = ({ guid, before = {} }: SeenDocument) => {
    const { _meta, ...fields } = before
    return { _meta: { guid }, ...fields }
  }
  return byStorage(seen, (all) => all.map(documents))
}

/** Of the storages that were written to. */
function documentsAfter(seen: readonly SeenDocument[], expected: Expected): JsonObject {
  const written = new Set(seen.filter(({ isWritten }) => isWritten).map(({ storage }) => storage))
  return byStorage(
    seen.filter(({ storage }) => written.has(storage)),
    (all) => all.flatMap(({ after }) => (after === undefined ? [] : [expected(after) ?? {}])),
  )
}

function byStorage(
  seen: readonly SeenDocument[],
  list: (all: readonly SeenDocument[]) => JsonValue[],
): JsonObject {
  const groups = Map.groupBy(seen, ({ storage }) => storage)
  return Object.fromEntries([...groups].map(([storage, all]) => [storage, list(all)]))
}

/** What a test expects for a value of the run; undefined for what cannot be expected. */
type Expected = (value: JsonValue) => JsonValue | undefined

function expectation({ started, us }: Run, known: ReadonlySet<string>, notes: Set<string>): Expected {
  const began = Date.parse(started)
  const isOfRun = (time: number) => time >= began - AROUND_MS && time <= began + us / 1000 + AROUND_MS
  const expected: Expected = (value) => {
    if (Array.isArray(value)) return value.map((item: JsonValue) => expected(item) ?? null)
    if (isJsonObject(value)) {
      if ('$cut' in value) {
        notes.add('A long value was cut in the trace, and nothing is expected of it.')
        return undefined
      }
      const { _meta, ...fields } = value
      return Object.fromEntries(Object.entries(fields).flatMap(([name, one]) => pair(name, one, expected)))
    }
    if (typeof value === 'number') return isOfRun(value) || isOfRun(value * 1000) ? '=value != null' : value
    if (typeof value !== 'string') return value
    if (value === MASK || (INSTANT.test(value) && isOfRun(Date.parse(value)))) return '=value != null'
    if (GUID.test(value) && !known.has(value)) return '=length(value) == 36'
    return value.startsWith('=') ? `=value == ${JSON.stringify(value)}` : value
  }
  return expected
}

function pair(name: string, value: JsonValue | undefined, expected: Expected): [string, JsonValue][] {
  const requested = value === undefined ? undefined : expected(value)
  return requested === undefined ? [] : [[name, requested]]
}

function entry(name: string, value: JsonValue | undefined, expected: Expected): JsonObject {
  return value === null ? {} : Object.fromEntries(pair(name, value, expected))
}

function userOf(run: Run, groups: ReadonlyMap<string, string>, notes: Set<string>): JsonObject | undefined {
  if (run.user === null || run.user === 'admin') return undefined
  const connection = run.steps.find(({ kind }) => kind === 'trigger')?.out.connection
  const user = isJsonObject(connection) ? connection.user : undefined
  if (!isJsonObject(user)) {
    notes.add(`The trace does not say which scopes ${run.user} has: add them.`)
    return { username: run.user }
  }
  const member = texts(user.groups)
  const named = member.flatMap((guid) => groups.get(guid) ?? [])
  if (named.length < member.length) notes.add(`Some groups of ${run.user} have no name here: add them.`)
  const scopes = texts(user.custom_scopes)
  return {
    username: run.user,
    ...(named.length > 0 && { groups: named }),
    ...(scopes.length > 0 && { scopes }),
  }
}

/** What the step is that starts such a run. */
function startOf(run: Run, notes: Set<string>): JsonObject {
  const [started] = run.steps
  switch (run.trigger_type) {
    case 'schedule':
      return { tick: run.label }
    case 'function':
      return { call: run.label, parameters: { ...(started?.out ?? {}) } }
    case 'storage': {
      const { document } = started?.out ?? {}
      if (!isJsonObject(document)) break
      const { _meta, ...fields } = document
      notes.add('The event is that of a document that is created.')
      return { event: { storage: String(started?.in.storage ?? ''), document: fields } }
    }
    default: {
      const { request } = run
      if (!request || (run.trigger_type === 'page' && request.method !== 'GET')) break
      return requestStep(run, request, notes)
    }
  }
  throw new Error(`A run of ${run.label} (${run.trigger_type}) cannot be recorded as a test.`)
}

function requestStep(run: Run, request: NonNullable<Run['request']>, notes: Set<string>): JsonObject {
  const query = isJsonObject(request.query) ? new URLSearchParams(pairsOf(request.query)).toString() : ''
  const [path = ''] = request.path.split('?')
  const isPage = run.trigger_type === 'page'
  const address = `${isPage || !path.startsWith(API) ? path : path.slice(API.length)}${query && `?${query}`}`
  const headers = isJsonObject(request.headers)
    ? Object.entries(request.headers).filter(
        ([name]) => RECORDED_HEADER.test(name) && !/^x-(forwarded|real)/.test(name),
      )
    : []
  if (JSON.stringify([request.body, request.query, headers]).includes(MASK))
    notes.add('Secrets of the request are masked: give other ones.')
  return {
    request: `${isPage ? 'page ' : ''}${request.method} ${address}`,
    ...(run.user !== null && { as: run.user }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(request.body !== null && request.method !== 'GET' && { body: request.body }),
  }
}

function pairsOf(query: JsonObject): [string, string][] {
  return Object.entries(query).flatMap(([name, value]): [string, string][] =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, String(one ?? '')]),
  )
}

function callsOf(steps: readonly Step[], known: ReadonlySet<string>, expected: Expected, notes: Set<string>) {
  return steps.flatMap(({ type, in: pins, out }) => {
    if (type !== 'http_request' && type !== 'each_page') return []
    const { url, method = 'GET', body, connection } = pins
    if (typeof url !== 'string' || !/^https?:/.test(url) || typeof out.code !== 'number') {
      notes.add(
        `A call over ${typeof connection === 'string' ? `the connection ${connection}` : 'a connection'}: add it to given.connections, and its reply to given.replies.`,
      )
      return []
    }
    const to = `${String(method)} ${url}`
    if (
      [...known].some((guid) => url.includes(guid)) === false &&
      url.split(/[/?=&]/).some((part) => GUID.test(part))
    )
      notes.add(`The address ${url} has a guid of the run: end it with * before that.`)
    const call: JsonObject = { to, ...entry('body', body ?? null, expected) }
    const reply: JsonObject = { to, status: out.code, ...(out.body !== undefined && { body: out.body }) }
    return [{ call, reply }]
  })
}

function mailOf({ to, subject }: PinValues, expected: Expected): JsonObject {
  const all = Array.isArray(to) ? to.join(', ') : to
  return { ...entry('to', all ?? null, expected), ...entry('subject', subject ?? null, expected) }
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

function textAt(value: JsonValue | undefined, name: string): string {
  const text = isJsonObject(value) ? value[name] : undefined
  return typeof text === 'string' ? text : ''
}

function numberAt(value: JsonValue | undefined, name: string): number {
  const number = isJsonObject(value) ? value[name] : undefined
  return typeof number === 'number' ? number : 0
}
