/**
 * Before anything is timed: do both candidates do the same work? The same requests must get the same replies, and the
 * connections that write must have the same settings. A difference ends the bench, because a ratio of two different
 * works says nothing.
 */
import type { Candidate } from './candidates.ts'
import { type Answer, comparable, comparableValues } from './comparable.ts'
import { guidIn } from './management-api.ts'
import { statusName, taskBody } from './sample-tasks.ts'

export class UnequalWork extends Error {}

/** Characters shown on either side of a difference. */
const EXCERPT = 400

interface Case {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly signedIn?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** False: the two say it in other words. */
  readonly wording?: false
}

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
const post = (body: string | Uint8Array<ArrayBuffer>) =>
  ({ method: 'POST', path: 'tasks', body, signedIn: true }) as const
const visit = (path: string) => ({ method: 'PUT', path, signedIn: true }) as const
const put = (path: string, body: string) => ({ method: 'PUT', path, body, signedIn: true }) as const
const get = (path: string) => ({ path })

/** `{guid}` is the task that the first one makes. */
const cases: readonly Case[] = [
  post(taskBody(1)),
  post('{"title":5,"status":7,"_meta":{"guid":"mine"},"note":null}'),
  post('{"title":" a ","status":""}'),
  post('{"status":"open","title":"Grüße","deep":{"list":[1,2.5,-3e-7,true,null,"\\u00e9"]}}'),
  post(''),
  post('null'),
  { ...post('[1]'), wording: false },
  { ...post('"text"'), wording: false },
  post('{}'),
  post('{"title":"  "}'),
  { ...post('{"title":["a"]}'), wording: false },
  { ...post('{"title":"a","status":{}}'), wording: false },
  { ...post(taskBody(1)), signedIn: false },
  { ...post(taskBody(1)), signedIn: false, headers: { authorization: 'Bearer wrong' } },
  { ...post('title=a'), headers: { 'content-type': 'text/plain' } },
  { ...post('{"title":"a","__proto__":{"admin":true}}'), wording: false },
  { ...post('{"title":"a",'), wording: false },
  { ...post(bytes('{"title":"\xff"}')), wording: false },
  { ...post('{"title":"\\u0000"}'), wording: false },
  { ...post('{"title":"\\ud800"}'), wording: false },
  { ...post(`{"title":"a","deep":${'['.repeat(70)}${']'.repeat(70)}}`), wording: false },
  { ...post(`{"title":"${'a'.repeat(1024 * 1024)}"}`), wording: false },
  get('tasks'),
  get(`tasks?status=${statusName(1)}`),
  get('tasks?status=none'),
  get('tasks?status='),
  get('tasks?limit=2&offset=1'),
  get('tasks?limit=0'),
  get('tasks?limit='),
  get('tasks?limit=1&limit=2'),
  get('tasks?limit=10000&offset=10000'),
  get('tasks?limit=10001'),
  get('tasks?limit=abc'),
  get('tasks?limit=1.5'),
  get('tasks?limit=-1'),
  get('tasks?offset=x'),
  get('tasks?offset=10001'),
  get('tasks?status=%00'),
  get(`bench/where?status=${statusName(1)}&assignee=bjarne`),
  get(`bench/where?status=${statusName(1)}&assignee=bjarne&offset=1`),
  get('bench/where?status=none&assignee=bjarne'),
  get(`bench/where?status=${statusName(1)}&assignee=bjarne&offset=-1`),
  get('tasks/{guid}'),
  get('tasks/unknown'),
  get('bench/constant'),
  get('bench/nothing'),
  { ...get('bench/constant'), headers: { 'if-none-match': '"another"' } },
  put('tasks/{guid}', '{"priority":4,"extra":"new"}'),
  put('tasks/{guid}', '{"title":9}'),
  put('tasks/{guid}', '{"title":""}'),
  put('tasks/{guid}', '{"title":null}'),
  { ...put('tasks/{guid}', '{"status":[]}'), wording: false },
  { ...put('tasks/{guid}', '[1]'), wording: false },
  put('tasks/unknown', '{"title":"a"}'),
  { ...put('tasks/{guid}', '{"title":"a"}'), signedIn: false },
  visit('bench/visits/{guid}'),
  visit('bench/visits/{guid}'),
  visit('bench/visits/unknown'),
  { ...visit('bench/visits/{guid}'), signedIn: false },
  put('tasks/{guid}', '{"visits":2.5}'),
  visit('bench/visits/{guid}'),
  get('tasks/{guid}'),
]

/** Throws UnequalWork for the first reply or setting that differs. Changes what the candidates hold. */
export async function checkEqualWork(ours: Candidate, theirs: Candidate): Promise<number> {
  const guids = new Map<Candidate, string>()
  for (const one of cases) {
    const [a, b] = [await perform(ours, one, guids), await perform(theirs, one, guids)]
    mustBeEqual(describe(one), comparable(a, one.wording), comparable(b, one.wording))
  }
  await checkRevalidation(ours)
  await checkRevalidation(theirs)
  mustBeEqual('the durability of writes', await durability(ours), await durability(theirs))
  return cases.length
}

/** The same for these GETs only, which change nothing: whole replies, or `values` only. */
export async function checkEqualReplies(
  ours: Candidate,
  theirs: Candidate,
  paths: readonly string[],
  compared: 'whole' | 'values' = 'whole',
): Promise<void> {
  const form = compared === 'whole' ? comparable : comparableValues
  for (const path of paths) {
    const [a, b] = [await perform(ours, { path }), await perform(theirs, { path })]
    mustBeEqual(`GET ${path}`, form(a), form(b))
  }
}

async function perform(
  candidate: Candidate,
  { method = 'GET', path, body, signedIn, headers }: Case,
  guids?: Map<Candidate, string>,
): Promise<Answer> {
  const reply = await fetchTwice(
    `${candidate.base}/api/v1/${path.replace('{guid}', guids?.get(candidate) ?? '')}`,
    {
      method,
      headers: {
        // As the load asks: the text as it is.
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(signedIn && { authorization: `Bearer ${candidate.token}` }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    },
  )
  const text = await reply.text()
  if (reply.status === 201 && guids && !guids.has(candidate)) guids.set(candidate, guidIn(JSON.parse(text)))
  return { status: reply.status, headers: reply.headers, text }
}

const closed = new Set<unknown>(['EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET'])

/** A server that refuses a long body closes the connection, now and then before the client has read the reply. */
async function fetchTwice(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    const { cause } = error instanceof Error ? error : {}
    if (!(cause instanceof Error && 'code' in cause && closed.has(cause.code))) throw error
    return await fetch(url, init)
  }
}

/** Who already has the reply is told so with 304, by its own tag. */
async function checkRevalidation(candidate: Candidate): Promise<void> {
  const path = 'tasks?limit=1'
  const { headers } = await perform(candidate, { path })
  const again = await perform(candidate, { path, headers: { 'if-none-match': headers.get('etag') ?? '' } })
  if (again.status !== 304 || again.text !== '')
    throw new UnequalWork(`${candidate.name} answers ${again.status} and not 304 to its own tag.`)
}

/** The settings of the connections to the documents, asked of the running process. */
async function durability(candidate: Candidate): Promise<string> {
  const connections = await candidate.report()
  const all: readonly unknown[] = Array.isArray(connections) ? connections : []
  const settings = all.flatMap((connection) => settingsOf(connection, candidate.databaseFile))
  if (settings.length === 0) throw new UnequalWork(`${candidate.name} shows no connection to its documents.`)
  const [first] = settings
  // 2 = FULL. With anything less an acknowledged write can be lost, and there is nothing to compare.
  if (first !== 'journal_mode wal, synchronous 2' || settings.some((other) => other !== first))
    throw new UnequalWork(`${candidate.name} is not durable: ${settings.join('; ')}.`)
  return first
}

function settingsOf(connection: unknown, file: string): string[] {
  if (typeof connection !== 'object' || connection === null) return []
  if (!('file' in connection && 'journal_mode' in connection && 'synchronous' in connection)) return []
  if (connection.file !== file) return []
  return [`journal_mode ${connection.journal_mode}, synchronous ${connection.synchronous}`]
}

function mustBeEqual(what: string, ours: string, theirs: string): void {
  if (ours === theirs) return
  let same = 0
  while (ours[same] === theirs[same]) same += 1
  const excerpt = (text: string) => text.slice(Math.max(0, same - EXCERPT), same + EXCERPT)
  throw new UnequalWork(
    `The two candidates differ in ${what}, at character ${same}.\n\nQuoin:\n${excerpt(ours)}\n\nhand-written:\n${excerpt(theirs)}\n\nNothing was timed.`,
  )
}

function describe({ method = 'GET', path, body = '' }: Case): string {
  return `${method} ${path} ${Buffer.from(body).toString('latin1').slice(0, 80)}`.trimEnd()
}
