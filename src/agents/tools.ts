/**
 * The tools of `/mcp`. Each is a few requests of the management API with the rights of the key's user within the scopes of the key, so that
 * scopes, rules, limits and audit records are those of the API. Nothing of a document, log or run gets into a description.
 */
import { randomBytes } from 'node:crypto'
import { type Static, type TObject, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { editDraftSchema } from '../shared/api/blueprints/drafts.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../storage/document-fields.ts'
import { documentation, findSections } from './documentation.ts'

export interface Reply {
  readonly status: number
  readonly body: JsonValue
}

/** Sends a request of the management API as the caller; the path comes after `/api/v1`. */
export type Send = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: JsonValue,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>

export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: TObject
  /** Counts among the changes of an hour. */
  readonly changes: boolean
  run(args: JsonObject, send: Send): Promise<Reply>
}

const closed = { additionalProperties: false }
const guid = Type.String({ minLength: 1, maxLength: 64, pattern: '^[\\w-]+$' })
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 }))
const offset = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 4_194_304, description: 'Character of the answer at which to go on.' }),
)

function tool<T extends TObject>(
  name: string,
  description: string,
  input: T,
  run: (args: Static<T>, send: Send) => Promise<Reply>,
  changes = false,
): Tool {
  return {
    ...{ name, description, input, changes },
    async run(args, send) {
      if (Check(input, args)) return run(args, send)
      const [first] = Errors(input, args)
      return refused(
        400,
        `The arguments of ${name} do not fit: ${first?.instancePath ?? ''} ${first?.message ?? ''}`,
      )
    },
  }
}

function refused(status: number, message: string): Reply {
  return { status, body: { message } }
}

const sources = [
  'docs',
  'blocks',
  'applications',
  'drafts',
  'blueprints',
  'storages',
  'fields',
  'operations',
  'runs',
  'logs',
] as const
const searches: Readonly<Record<string, string>> = {
  blocks: '/blocks/search',
  blueprints: '/blueprints/search',
  storages: '/_system/storages/search',
  fields: '/blueprintfields/search',
  logs: '/_system/systemlogs/search',
  operations: '/_system/operations/search',
}

const search = tool(
  'search',
  'Find sections of the documentation, blocks, applications, drafts, blueprints, storages, fields, operations of other APIs (of the OpenAPI documents of connections), traced runs or log records. `read` shows one of them.',
  Type.Object(
    { in: Type.Enum([...sources]), text: Type.Optional(Type.String({ maxLength: 200 })), limit, offset },
    closed,
  ),
  async ({ in: source, text = '', limit: most = 20 }, send) => {
    if (source === 'docs')
      return { status: 200, body: JSON.parse(JSON.stringify(await findSections(text, most))) }
    const list = lists[source]
    if (list !== undefined) return found(await send('GET', list), text, most)
    return send('POST', searches[source] ?? '', { limit: most, ...(text !== '' && { query: text }) })
  },
)

/** What the API lists without a search: runs are the last 200. */
const lists: Readonly<Record<string, string>> = {
  applications: '/_system/applications',
  drafts: '/_system/drafts',
  runs: '/runs?limit=200',
}

/** Those that have all words, in any case. */
function found({ status, body }: Reply, text: string, most: number): Reply {
  if (status !== 200 || !Array.isArray(body)) return { status, body }
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const fits = (one: JsonValue) => {
    const all = JSON.stringify(one).toLowerCase()
    return words.every((word) => all.includes(word))
  }
  return { status, body: body.filter(fits).slice(0, most) }
}

const kinds = ['docs', 'application', 'draft', 'block', 'blueprint', 'operation', 'run'] as const

const read = tool(
  'read',
  'Read a page of the documentation by its name (from the offset of a section), an application by its name (as the cluster has it), a draft by its guid (its files, changes, conflicts and problems), the pins and settings of a block by its identifier, a blueprint or a traced run by its guid, an operation of another API by its guid: its `definition` is the field `operation` of a block `call_operation`, whose pin `connection` has the name of the connection. With `path` only that file of a draft.',
  Type.Object(
    {
      kind: Type.Enum([...kinds]),
      name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w-]+$' }),
      path: Type.Optional(Type.String({ maxLength: 250 })),
      offset,
    },
    closed,
  ),
  async ({ kind, name, path }, send) => {
    if (kind === 'docs') return readPage(name)
    if (kind === 'application') return send('GET', `/_system/applications/${name}/content`)
    if (kind === 'blueprint') return send('GET', `/blueprints/${name}`)
    if (kind === 'run') return send('GET', `/runs/${name}`)
    if (kind === 'operation') return send('GET', `/_system/operations/${name}`)
    if (kind === 'block') return send('GET', `/blocks/${name}`)
    return fileOf(await send('GET', `/_system/drafts/${name}`), path)
  },
)

async function readPage(name: string): Promise<Reply> {
  const { pages } = await documentation()
  const page = pages.find((one) => one.name === name)
  if (page) return { status: 200, body: page.text }
  return refused(404, `There is no page ${name}. There are ${pages.map((one) => one.name).join(', ')}.`)
}

function fileOf({ status, body }: Reply, path: string | undefined): Reply {
  if (status !== 200 || !isJsonObject(body)) return { status, body }
  const { live: _, ...draft } = body
  const { files } = draft
  if (path === undefined || !isJsonObject(files)) return { status, body: draft }
  const text = Object.hasOwn(files, path) ? files[path] : undefined
  if (text === undefined)
    return refused(404, `The draft has no ${path}. It has ${Object.keys(files).join(', ')}.`)
  return { status, body: text }
}

const edit = tool(
  'edit',
  'Change files of your draft of an application, or begin one. Nothing goes live. A change has the whole `text` of a file, `remove: true`, or `old` (in the file exactly once) and `new`. Files: quoin.json { "name" }, blueprints/NAME.json { "name", "blocks": { "on": { "type", "in": { pin: value or "@block.pin" }, "fields": {settings}, "scopes" } } }, storages/NAME.json { "fields": { NAME: { "type" } } }, groups.json, connections.json, connections/NAME.openapi.json, alerts.json, views.json, queues.json, templates/, seed/NAME.ndjson, tests/NAME.test.json. The answer has the problems of all files.',
  editDraftSchema,
  async (args, send) => {
    const edited = await send('POST', '/_system/drafts', JSON.parse(JSON.stringify(args)))
    if (edited.status !== 200 || !isJsonObject(edited.body)) return edited
    return checked(await send('GET', `/_system/drafts/${textIn(edited.body.guid)}`))
  },
  true,
)

const ofDraft = Type.Object({ draft: guid, offset }, closed)

const check = tool('check', 'Problems, changes and conflicts of a draft.', ofDraft, async ({ draft }, send) =>
  checked(await send('GET', `/_system/drafts/${draft}`)),
)

function checked({ status, body }: Reply): Reply {
  if (!isJsonObject(body)) return { status, body }
  const { files: _, live: _live, ...rest } = body
  return { status, body: rest }
}

const test = tool(
  'test',
  'Run tests/*.test.json of a draft, each in a cluster of its own in memory: no data of this cluster is read or changed. A test: { "name", "given", "steps": [{ "request": "GET /tasks", "expect": { "status": 200, "body" } }] }.',
  ofDraft,
  ({ draft }, send) => send('POST', `/_system/drafts/${draft}/test`),
)

const tryRun = tool(
  'try',
  'Run something without effects. With `draft`: do `steps` of a test, with `given`, on your draft in a cluster of its own in memory; the answer has the replies, and the runs with what each block got and gave. Steps: { "request": "POST /tasks", "as", "headers", "body" }, { "tick": NAME }, { "call": NAME, "parameters" }, { "event": { "storage", "document" } }, { "advance": "2h" }. With `blueprint` and `trigger`: run one trigger of a deployed blueprint on the documents of the cluster; its writes, jobs and mails are undone.',
  Type.Object(
    {
      draft: Type.Optional(guid),
      steps: Type.Optional(anyObjects(20)),
      given: Type.Optional(anyObject(100)),
      blueprint: Type.Optional(guid),
      trigger: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_000,
          description: 'Guid or name of the block, or `GET tasks`.',
        }),
      ),
      input: Type.Optional(anyObject(100)),
      offset,
    },
    closed,
  ),
  async ({ draft, steps, given, blueprint, trigger, input }, send) => {
    if (draft !== undefined && steps !== undefined && blueprint === undefined) {
      const body = { steps, ...(given && { given }) }
      return triedOf(await send('POST', `/_system/drafts/${draft}/try`, JSON.parse(JSON.stringify(body))))
    }
    if (blueprint === undefined || trigger === undefined || draft !== undefined)
      return refused(400, 'Give draft and steps, or blueprint and trigger.')
    const body = { trigger, effects: 'discard', ...(input && { input }) }
    return send('POST', `/blueprints/${blueprint}/run`, JSON.parse(JSON.stringify(body)))
  },
)

function anyObject(maxProperties: number) {
  return Type.Record(Type.String(), Type.Unknown(), { maxProperties })
}

function anyObjects(maxItems: number) {
  return Type.Array(anyObject(100), { minItems: 1, maxItems })
}

/** Of the one test that a try is. */
function triedOf({ status, body }: Reply): Reply {
  const [result] = status === 200 && isJsonObject(body) ? objectsIn(body.results) : []
  if (result === undefined) return { status, body }
  const { failures = [], answers = [], runs = [] } = result
  return { status, body: { failures, answers, runs } }
}

const explain = tool(
  'explain',
  'Why a request to an endpoint or page (`method`, `path`) is answered, refused, 404 or slow: who may call it, its last failed runs, and its blocks by their times. With `run`: why that run failed, where, with which values, and which blocks took longest.',
  Type.Object(
    {
      method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
      run: Type.Optional(guid),
      offset,
    },
    closed,
  ),
  async ({ method, path, run }, send) => {
    if (run !== undefined && method === undefined && path === undefined)
      return explainedRun(await send('GET', `/runs/${run}`))
    if (method === undefined || path === undefined || run !== undefined)
      return refused(400, 'Give method and path, or run.')
    return explainedRequest(await send('POST', '/blueprints/explain', { method, path }), send)
  },
)

/** Failed runs and slow blocks that an explanation names. */
const MOST_NAMED = 5

async function explainedRequest({ status, body }: Reply, send: Send): Promise<Reply> {
  const { blueprint, block } = status === 200 && isJsonObject(body) ? body : {}
  if (!isJsonObject(body) || !isJsonObject(blueprint) || blueprint.active !== true) return { status, body }
  const guid = textIn(blueprint.guid)
  const trigger = encodeURIComponent(textIn(block))
  const failed = await send(
    'GET',
    `/runs?blueprint=${guid}&trigger=${trigger}&failed=true&limit=${MOST_NAMED}`,
  )
  const times = await send('GET', `/blueprints/${guid}/block-times`)
  const { blocks, ...sampled } = isJsonObject(times.body) ? times.body : {}
  const slowest = objectsIn(blocks ?? [])
    .toSorted((one, other) => numberIn(other.p95_us) - numberIn(one.p95_us))
    .slice(0, MOST_NAMED)
  return {
    status,
    body: {
      ...body,
      failed_runs: failed.status === 200 ? failed.body : whyNot(failed),
      block_times: times.status === 200 ? { ...sampled, slowest } : whyNot(times),
    },
  }
}

/** The rest of the explanation stands without it. */
function whyNot({ status, body }: Reply): JsonObject {
  return { refused: status, message: isJsonObject(body) ? textIn(body.message) : '' }
}

function explainedRun({ status, body }: Reply): Reply {
  if (status !== 200 || !isJsonObject(body)) return { status, body }
  const { steps: all, error = null, reply = null, request = null, ...run } = body
  const steps = objectsIn(all)
  const block = isJsonObject(error) ? error.block : undefined
  const failed = steps.filter((one) => typeof one.error === 'string' || one.block === block)
  const slowest = steps
    .map(({ block: own = '', type = '', us = 0 }) => ({ block: own, type, us }))
    .toSorted((one, other) => numberIn(other.us) - numberIn(one.us))
    .slice(0, MOST_NAMED)
  const at = [...failed.slice(-MOST_NAMED)]
  return { status, body: { ...run, error, failed_steps: at, slowest, request, reply, steps: steps.length } }
}

const documents = tool(
  'documents',
  'Search documents of a storage, by the rules for your user. Go on with `after`.',
  Type.Object(
    {
      storage: Type.String({ minLength: 1, maxLength: 200 }),
      query: Type.Optional(Type.String({ maxLength: 1_000 })),
      filters: Type.Optional(
        Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), { maxProperties: 20 }),
      ),
      limit,
      skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: 'Documents to skip.' })),
      offset,
    },
    closed,
  ),
  async ({ storage, query, filters, limit: most = 20, skip = 0 }, send) => {
    const found = await send('POST', '/_system/storages/search', { filters: { name: storage }, limit: 1 })
    if (found.status !== 200) return found
    const [one] = objectsIn(found.body)
    if (!one) return refused(404, `There is no storage ${JSON.stringify(storage)}. Search storages.`)
    const body = {
      limit: most,
      offset: skip,
      ...(query !== undefined && { query }),
      ...(filters && { filters }),
    }
    return send('POST', `/_system/storages/${guidOf(one)}/documents/search`, JSON.parse(JSON.stringify(body)))
  },
)

const plan = tool('plan', 'What a push of a draft would do. Changes nothing.', ofDraft, ({ draft }, send) =>
  send('POST', `/_system/drafts/${draft}/plan`),
)

const deploy = tool(
  'deploy',
  'Push a draft as one release, with the `state` of its plan. Needs the scope agents_deploy; without it, ask a person to push the draft.',
  Type.Object(
    { draft: guid, state: Type.String({ maxLength: 100 }), allow_loss: Type.Optional(Type.Boolean()) },
    closed,
  ),
  ({ draft, state, allow_loss = false }, send) =>
    send('POST', `/_system/drafts/${draft}/push`, { state, allow_loss }),
  true,
)

const discard = tool(
  'discard',
  'Remove a draft of yours: takes all of its changes back.',
  Type.Object({ draft: guid }, closed),
  ({ draft }, send) => send('DELETE', `/_system/drafts/${draft}`),
  true,
)

export const tools: readonly Tool[] = [
  ...[search, read, edit, check, test, tryRun, explain, documents, plan, deploy, discard],
]

/** What an agent gets: what comes from documents, logs and files stands between marks. */
export interface MarkedText {
  readonly text: string
  readonly isError: boolean
}

/** Characters of one answer: about 5,000 tokens. */
export const LONGEST_ANSWER = 20_000

export interface ChangeBudget {
  /** Takes one change. Gives why it must wait, or undefined. */
  change(): Promise<string | undefined>
  ended(isRefused: boolean): void
}

/** Calls a tool of the table above, within the budget of its caller. */
export async function useTool(
  called: Tool,
  args: JsonObject,
  { budget, send }: { readonly budget: ChangeBudget; readonly send: Send },
): Promise<MarkedText> {
  const waiting = called.changes ? await budget.change() : undefined
  if (waiting !== undefined) return marked(refused(429, waiting), 0)
  const reply = await called.run(args, send)
  if (called.changes) budget.ended(reply.status >= 400)
  return marked(reply, typeof args.offset === 'number' ? args.offset : 0)
}

/** The mark has a random number, so that no text of a document can end it. */
export function marked({ status, body }: Reply, offset: number): MarkedText {
  const whole = typeof body === 'string' ? body : JSON.stringify(body)
  const part = whole.slice(offset, offset + LONGEST_ANSWER)
  const end = offset + part.length
  const mark = randomBytes(8).toString('hex')
  const more =
    end < whole.length
      ? `\nCharacters ${offset} to ${end} of ${whole.length}. Ask again with offset ${end}.`
      : ''
  const text = `${status >= 400 ? `Refused with ${status}.\n` : ''}<data ${mark}>\n${part}\n</data ${mark}>${more}`
  return { text, isError: status >= 400 }
}
