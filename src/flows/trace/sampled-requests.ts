/**
 * Requests that are recorded to be repeated on a draft, where a builder asks for it: of each trigger the first of a shape in an hour,
 * and then one in so many. A request that is not recorded costs one look-up and a count. The requests are in a storage of their own,
 * so that they push out no traced run, and no list of runs shows them.
 */
import type { RunRequest } from '../../blocks/run-request.ts'
import { storedLater } from '../../records/batched-log.ts'
import { hasPassed } from '../../shared/clock.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import type { Flows } from '../flows.ts'
import type { RunStart } from '../run/run-start.ts'
import { Secrets, shownJson, showValue } from '../values/shown-value.ts'
import type { RunDetail, RunRecord } from './run-record.ts'
import type { RunUnderWay } from './run-under-way.ts'

const name = systemStorages.recordedRequests

export interface SampledRequests {
  /** Whether this one is recorded, of a blueprint of which one in `oneIn` is. Asked once for each; `isReady` last, of few. */
  isDue(start: RunStart, oneIn: number, isReady: () => boolean): boolean
  /** Stores it within a second. */
  put(run: RunUnderWay, compiled: CompiledBlueprint): void
  /** Resolves when everything put so far is stored, or could not be. */
  flush(): Promise<void>
  find(guid: string): Promise<JsonObject | undefined>
  /** The newest of each of these triggers, the same number of each, as records of runs. */
  newest(blueprint: string, triggers: readonly string[], most: number): Promise<readonly JsonObject[]>
  /** Those of a blueprint. */
  remove(blueprint: string): Promise<void>
  close(): Promise<void>
}

/** Of a trigger; older ones give way. */
const MOST_OF_TRIGGER = 200
/** Of a blueprint, in bytes of details. */
const MOST_BYTES = 20 * 1024 * 1024
/** Longer ones are not stored: bodies of a request and a reply have at most 64 KiB each, and what calls gave 128. */
const LONGEST = 200 * 1024
/** On each node, so that recording costs the same under any load. */
const MOST_IN_A_SECOND = 2
const MOST_WAITING = 20
const SECOND = 1_000
const HOUR = 3_600_000
/** Names that clients send are without number. */
const MOST_SHAPES = 20
const MOST_NAMES = 50
/** What is behind that makes no other shape: shapes are in memory for an hour. */
const LONGEST_NAME = 100
const PAGE = 20
/** After so many, what other nodes have stored is read again. */
const READ_AGAIN = 200

export async function openSampledRequests({
  records: { database },
  permissions,
  environment: { clock },
}: Flows): Promise<SampledRequests> {
  await database.ensure(name, { indexes: [{ fields: ['blueprint', 'trigger', '_meta.cms'] }] })
  const stored = new StoredRequests(database)
  let waiting: { readonly record: RunRecord; readonly compiled: CompiledBlueprint; detail: RunDetail }[] = []
  const later = storedLater(store, SECOND)

  async function store(): Promise<void> {
    const batch = waiting
    waiting = []
    const documents: StoredRequest[] = []
    for (const { record, compiled, detail } of batch) {
      // One whose rules cannot be read is not stored at all, and the others are.
      const names = await hiddenNames(permissions, compiled).catch(() => undefined)
      const text = names && JSON.stringify(masked(detail, names))
      if (text && text.length <= LONGEST) documents.push({ ...record, detail: text, bytes: text.length })
    }
    // Not even a disk that is full stops what serves requests: `later` goes on.
    await stored.add(documents)
  }

  return {
    isDue: dueRequests(clock),
    put(run, compiled) {
      if (waiting.length >= MOST_WAITING) return
      waiting.push({ record: { ...run.record(), detail: '' }, compiled, detail: run.detail() })
      later.ask()
    },
    flush: later.flush,
    async find(guid) {
      const found = await database.session().get(name, guid)
      return found && documentOf(found)
    },
    async newest(blueprint, triggers, most) {
      await later.flush()
      return stored.newest(blueprint, triggers, most)
    },
    async remove(blueprint) {
      await later.flush()
      await stored.remove(blueprint)
    },
    close: later.flush,
  }
}

/** Names of fields that not every user sees, in a storage that the blueprint uses. */
async function hiddenNames(
  permissions: Flows['permissions'],
  { needs }: CompiledBlueprint,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const storage of needs.keys())
    for (const field of await permissions.hidden(storage, { bound: true, user: undefined }))
      names.add(field.slice(field.lastIndexOf('.') + 1))
  return names
}

/** Of one trigger. */
interface SeenRequests {
  left: number
  readonly shapes: Set<string>
  since: number
}

export function dueRequests(clock: () => number): SampledRequests['isDue'] {
  const triggers = new WeakMap<CompiledFlow, SeenRequests>()
  let [second, room] = [0, MOST_IN_A_SECOND]
  return ({ flow, request, resume, unit }, oneIn, isReady) => {
    // A try again is the same request, and half a run cannot be repeated.
    if (!request || resume || (unit?.attempt ?? 1) > 1 || (request.visit && request.method !== 'GET'))
      return false
    const seen = triggers.get(flow) ?? { left: oneIn, shapes: new Set(), since: clock() }
    triggers.set(flow, seen)
    seen.left -= 1
    const shape = shapeOf(request)
    const isNew = !seen.shapes.has(shape) && seen.shapes.size < MOST_SHAPES
    if (seen.left > 0 && !isNew) return false
    // One for which there is no room is left out, too: while it waited each request would read the clock.
    seen.left = oneIn
    const now = clock()
    if (hasPassed(HOUR, seen.since, now)) {
      seen.shapes.clear()
      seen.since = now
    }
    if (hasPassed(SECOND, second, now)) [second, room] = [now, MOST_IN_A_SECOND]
    if (room === 0 || !isReady()) return false
    room -= 1
    seen.shapes.add(shape)
    return true
  }
}

/** The names that a request sends: values do not count. */
function shapeOf({ query, body }: RunRequest): string {
  let shape = ''
  let names = 0
  for (const key in query) {
    if (++names > MOST_NAMES) break
    shape += `?${key.slice(0, LONGEST_NAME)}`
  }
  if (!isJsonObject(body)) return shape
  for (const key in body) {
    if (++names > MOST_NAMES) break
    shape += `.${key.slice(0, LONGEST_NAME)}`
  }
  return shape
}

/** Without steps: what is repeated shows them. What fields hide from users is dots, under their names and as the same text elsewhere. */
function masked(detail: RunDetail, names: ReadonlySet<string>): RunDetail {
  const { request, reply, result, outside } = detail
  const parts = { request, reply, result, outside }
  const bare = { ...detail, steps: [], marks: {} }
  if (names.size === 0) return bare
  const shown = shownJson(showValue(parts, new Secrets(names), 2 * LONGEST))
  if (!isJsonObject(shown) || shown.$cut !== undefined)
    return { ...bare, request: null, reply: null, outside: [] }
  return {
    ...bare,
    // The body as it was sent is text without names.
    request: isJsonObject(shown.request) ? withoutRawBody(shown.request) : null,
    reply: isJsonObject(shown.reply) ? shown.reply : null,
    result: shown.result ?? null,
    outside: objectsIn(shown.outside ?? []),
  }
}

function withoutRawBody({ raw_body: _, ...request }: JsonObject): JsonObject {
  return request
}

type StoredRequest = RunRecord & { readonly bytes: number }

interface KnownRequest {
  readonly guid: string
  readonly trigger: string
  readonly bytes: number
}

/** Knows how many there are of each trigger, and how long they are: the oldest give way. */
class StoredRequests {
  readonly #database: Flows['records']['database']
  /** By blueprint, the oldest first. */
  readonly #known = new Map<string, KnownRequest[]>()
  #added = 0

  constructor(database: Flows['records']['database']) {
    this.#database = database
  }

  async add(requests: readonly StoredRequest[]): Promise<void> {
    if (requests.length === 0) return
    this.#added += requests.length
    if (this.#added >= READ_AGAIN) {
      this.#added = 0
      this.#known.clear()
    }
    const leaving: string[] = []
    for (const { guid, blueprint, trigger, bytes } of requests) {
      const known = this.#known.get(blueprint) ?? (await this.#read(blueprint))
      this.#known.set(blueprint, known)
      known.push({ guid, trigger, bytes })
      leaving.push(...tooMany(known, trigger))
    }
    await transact(this.#database, async (session) => {
      for (const { guid, ...fields } of requests) await session.create(name, setFields(fields), { guid })
      for (const guid of leaving) await session.delete(name, guid)
    })
  }

  async newest(blueprint: string, triggers: readonly string[], most: number): Promise<JsonObject[]> {
    const each = Math.ceil(most / Math.max(triggers.length, 1))
    const found: JsonObject[] = []
    for (const trigger of triggers) {
      const of = { blueprint, trigger }
      for (let offset = 0; offset < each; offset += PAGE) {
        const page = await this.#page(of, { offset, limit: Math.min(PAGE, each - offset) })
        found.push(...page)
        if (page.length < PAGE) break
      }
    }
    return found.slice(0, most)
  }

  async remove(blueprint: string): Promise<void> {
    this.#known.delete(blueprint)
    for (;;) {
      const page = await this.#page({ blueprint }, { offset: 0, limit: PAGE })
      if (page.length === 0) return
      await transact(this.#database, async (session) => {
        for (const document of page) await session.delete(name, guidOf(document))
      })
    }
  }

  async #read(blueprint: string): Promise<KnownRequest[]> {
    const known: KnownRequest[] = []
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.#page({ blueprint }, { offset, limit: PAGE })
      for (const document of page)
        known.unshift({
          guid: guidOf(document),
          trigger: textIn(document.trigger),
          bytes: numberIn(document.bytes),
        })
      if (page.length < PAGE) return known
    }
  }

  async #page(
    of: Readonly<Record<string, JsonValue>>,
    part: { readonly offset: number; readonly limit: number },
  ): Promise<readonly JsonObject[]> {
    const queries = Object.entries(of).map(([field, value]) => ({
      ...({ kind: 'term', field, value: textIn(value) } as const),
    }))
    const sort = [{ field: '_meta.cms', order: 'desc', missing: 'last' }] as const
    const found = await this.#database
      .session()
      .find(name, search({ query: { kind: 'and', queries }, sort, ...part }))
    return documentsOf(found)
  }
}

/** Takes out those that are more than a trigger may have, or a blueprint, and gives their guids. */
export function tooMany(known: KnownRequest[], trigger: string): string[] {
  const gone: string[] = []
  const takeOut = (at: number) => gone.push(...known.splice(at, 1).map(({ guid }) => guid))
  const isOf = (one: KnownRequest) => one.trigger === trigger
  while (known.filter(isOf).length > MOST_OF_TRIGGER) takeOut(known.findIndex(isOf))
  while (known.reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES && known.length > 1) takeOut(0)
  return gone
}
