/**
 * Requests whose run has failed behind its reply. The client has a reply and will not ask again, so each becomes a dead letter: a job
 * that waits for a person, who sees what has happened already and sends the request again, on the present version.
 *
 * A client that was answered 500 knows of it and may ask again itself. So its request is only noted in the record of the run, and
 * becomes a dead letter when a person sends it again.
 *
 * It is a job of the kind `function`, as mails are: a node of an older version fails it, and it is a dead letter again.
 */
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { requestKey } from '../../shared/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { isSecretName } from '../../shared/names/secret-names.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { textIn, textsIn } from '../../storage/document-fields.ts'
import type { Job, NewJob } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { Flows } from '../flows.ts'
import { originPayload, runOrigin } from '../run/job-payload.ts'
import type { HappenedEffect, RunEnd, RunStart } from '../run/run-start.ts'
import { FailedRun } from './failed-run.ts'
import type { QueueSteering } from './queue-steering.ts'

const requestQueue = '_requests'
const FUNCTION = '(send again)'
const MOST_VALUES = 50_000
const SECRETS = 'It held a password or token, which is not stored. Ask its client to send it again.'
const TOO_LARGE = 'It is too large to be stored. Ask its client to send it again.'
const FORM = 'It is a form of a page. Ask its visitor to send it again.'

export interface DeadLetterRequests {
  /** Told of runs that have failed. Stores those that have replied. */
  note(start: RunStart, end: RunEnd): void
  /** When all are stored. */
  close(): Promise<void>
}

interface LettersOptions {
  readonly database: Database
  readonly clock: () => number
  readonly warn: (message: string) => void
}

export function openDeadLetterRequests({ database, clock, warn }: LettersOptions): DeadLetterRequests {
  const pending = new Set<Promise<unknown>>()

  async function store(request: RunRequest, start: RunStart, end: RunEnd): Promise<void> {
    const about = { request, start, end, received: clock() }
    const keep = (cannot?: string) =>
      transact(database, (session) => session.enqueue(letterOf({ ...about, cannot })))
    try {
      await keep(cannotOf(request))
    } catch (error) {
      if (!(error instanceof QuoinError && error.code === 'INVALID_BODY')) throw error
      await keep(TOO_LARGE)
    }
  }

  return {
    note(start, end) {
      const { request, job } = start
      if (!request || job !== undefined || !end.happened) return
      const storing = store(request, start, end).catch((error: unknown) =>
        warn(
          `The request of the run ${end.run}, which failed behind its reply, could not be stored: ${String(error)}`,
        ),
      )
      pending.add(storing)
      void storing.then(() => pending.delete(storing))
    },
    async close() {
      await Promise.all(pending)
    },
  }
}

/** Bytes of a letter in the record of a run. */
const RECORDED_BYTES = 64 * 1024
const TOO_LONG = 'It is too long to be recorded with its run. Ask its client to send it again.'

/** Of the request of a run that was answered with a status from 500 on; null for another one, and for what a job has sent again. */
export function recordedLetter(start: RunStart, end: RunEnd, received: number): JsonObject | null {
  const { request, job } = start
  const status = end.error?.status ?? end.left?.refusal?.code ?? 0
  if (!request || request.visit || job !== undefined || !end.left || end.happened || status < 500) return null
  const about = { request, start, end, received }
  const whole = recorded(letterOf({ ...about, cannot: cannotOf(request) }))
  return Buffer.byteLength(JSON.stringify(whole)) <= RECORDED_BYTES
    ? whole
    : recorded(letterOf({ ...about, cannot: TOO_LONG }))
}

function recorded({ title, payload, dead }: NewJob): JsonObject {
  return { title: title ?? '', payload, error: dead?.error ?? '', block: dead?.failedIn?.block ?? '' }
}

/** What the API says of sending the request of a run again. */
export function sendableOf(letter: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(letter) || !isJsonObject(letter.payload)) return null
  const { cannot, happened } = letter.payload
  return { title: letter.title ?? '', cannot: cannot ?? '', happened: happened ?? [] }
}

interface Sending {
  readonly database: Database
  readonly steering: Pick<QueueSteering, 'requeue'>
  readonly by: Actor
  /** To what happens a second time. */
  readonly agreed: boolean
}

/**
 * Sends the request of a run again, whose record has this letter: makes it a dead letter, and requeues that. Gives the job. Throws
 * CONFLICT as {@link checkSendingAgain} does, for a run without a letter, and for a request that was sent again already.
 */
export async function sendRecordedAgain(
  run: string,
  letter: JsonValue | undefined,
  { database, steering, by, agreed }: Sending,
): Promise<string> {
  if (!isJsonObject(letter) || !isJsonObject(letter.payload))
    throw new QuoinError(
      'CONFLICT',
      'Only the recorded request of an endpoint that was answered with a status from 500 on can be sent again.',
    )
  const { payload } = letter
  checkSendingAgain({ payload }, agreed)
  const { withClusterLock: alone, jobs } = database.capabilities
  return alone(`send again ${run}`, async () => {
    const query: Query = { kind: 'term', field: 'dedupe_key', value: requestKey(run) }
    const [former] = (await jobs.search(search({ query, limit: 1 }))).records
    if (former && former.state !== 'dead')
      throw new QuoinError('CONFLICT', `The request was sent again already, as the job ${former.guid}.`)
    const failedIn = { run, blueprint: textIn(payload.blueprint), block: textIn(letter.block) }
    const job: NewJob = {
      ...{ queue: requestQueue, kind: 'function', title: textIn(letter.title), attempts: 1, payload },
      ...{ dedupeKey: requestKey(run), dead: { error: textIn(letter.error), failedIn } },
    }
    const guid = former?.guid ?? (await transact(database, (session) => session.enqueue(job))) ?? ''
    await steering.requeue(guid, by)
    return guid
  })
}

interface Letter {
  readonly request: RunRequest
  readonly start: RunStart
  readonly end: RunEnd
  readonly received: number
  /** Why it cannot be sent again; then only its address is stored. */
  readonly cannot: string | undefined
}

function letterOf({ request, start, end, received, cannot }: Letter): NewJob {
  const { blueprint, flow } = start
  const { refusal, done = [] } = end.left ?? {}
  const error =
    end.error ?? new QuoinError('INTERNAL', refusal ? repliedWith(refusal.code) : 'internal error')
  const failed = new FailedRun(end.run, error, { blueprint, trigger: flow.trigger })
  const { run, block } = failed
  const address = shownAddress(request)
  return {
    queue: requestQueue,
    kind: 'function',
    title: `${request.method} ${address}`,
    attempts: 1,
    dedupeKey: requestKey(run),
    payload: {
      ...{ function: FUNCTION, blueprint, block: flow.trigger, run, received, cannot: cannot ?? '' },
      request: cannot === undefined ? storedRequest(request) : { method: request.method, url: address },
      happened: (end.happened ?? done).map(shownEffect),
      ...originPayload(runOrigin(run, request.user)),
      ...(request.scopes && { caller_scopes: [...request.scopes] }),
    },
    dead: { error: failed.message, failedIn: { run, blueprint, block } },
  }
}

const repliedWith = (status: number) => `The flow replied with status ${status}.`

/** Without its query, and without the values of secret parameters of its path: `invites/{token}`. */
function shownAddress({ url, path }: RunRequest): string {
  const [address = ''] = url.split('?', 1)
  const secrets = Object.entries(path).filter(([name, value]) => isCredential(name) && value !== '')
  if (secrets.length === 0) return address
  // Decoded, as the parameters are: a client may write any letter as %XX.
  let shown = address.split('/').map(decoded).join('/')
  for (const [name, value] of secrets) shown = shown.replaceAll(value, `{${name}}`)
  return shown
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function shownEffect({ block, title, kind, count }: HappenedEffect): JsonObject {
  return { block: drawnBlock(block), title, kind, count }
}

/** Credentials are left out, and named: a flow that looks at one itself takes another way. */
function storedRequest({ method, url, headers, ip, query, path, body, rawBody }: RunRequest): JsonObject {
  const open: Record<string, JsonValue> = {}
  const without: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (isCredential(name)) without.push(name)
    else if (value !== undefined) open[name] = typeof value === 'string' ? value : [...value]
  }
  return {
    ...{ method, url, ip, headers: open, without, path: { ...path } },
    query: Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    ),
    ...(body !== undefined && { body }),
    ...(rawBody && { raw_body: Buffer.from(rawBody).toString('base64') }),
  }
}

/** A signature opens nothing but its own request. */
function isCredential(name: string): boolean {
  return isSecretName(name) && !/signature/i.test(name)
}

function cannotOf({ visit, body, query, path }: RunRequest): string | undefined {
  if (visit) return FORM
  return [body, query, path].some(holdsSecret) ? SECRETS : undefined
}

function holdsSecret(whole: unknown): boolean {
  const open: unknown[] = [whole]
  for (let values = 0; open.length > 0; values++) {
    // Who can tell what is in the rest?
    if (values > MOST_VALUES) return true
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value) && isCredential(name) && inner !== null && inner !== '') return true
      open.push(inner)
    }
  }
  return false
}

export function isRequestJob({ payload }: { readonly payload: JsonObject }): boolean {
  return payload.function === FUNCTION
}

/** Throws CONFLICT for a request that cannot be sent again, and for one that would do something a second time, unless that is `agreed`. */
export function checkSendingAgain({ payload }: Pick<Job, 'payload'>, agreed: boolean): void {
  const cannot = textIn(payload.cannot)
  if (cannot !== '') throw new QuoinError('CONFLICT', `The request cannot be sent again. ${cannot}`)
  const happened = effectsIn(payload)
  if (agreed || happened.length === 0) return
  const reported = happened
    .slice(0, 20)
    .map(({ title, kind, count }) => `${kind} of "${title}"${count > 1 ? `, ${count} times` : ''}`)
  throw new QuoinError(
    'CONFLICT',
    `Sending the request again runs the whole flow, and does a second time: ${reported.join('; ')}. Send { "repeat": true } to do that.`,
  )
}

function effectsIn({ happened }: JsonObject) {
  const all = Array.isArray(happened) ? happened.filter(isJsonObject) : []
  return all.map(({ title, kind, count }) => ({
    title: textIn(title),
    kind: textIn(kind),
    count: Number(count),
  }))
}

/** The request on the present version. Throws while that has no such endpoint: the job is a dead letter again. */
export function requestTarget(
  { live }: Pick<Flows, 'live'>,
  { payload }: Pick<Job, 'payload'>,
): Pick<RunStart, 'flow' | 'blueprint' | 'input' | 'beforeReply'> & {
  readonly request: RunRequest
  readonly callerScopes: ReadonlySet<string> | undefined
} {
  const blueprint = textIn(payload.blueprint)
  const block = textIn(payload.block)
  const found = live.table().blueprints.get(blueprint)
  if (!found) throw new Error('The blueprint is not active. Activate it, and send the request again.')
  const endpoint = found.compiled.endpoints.find(({ flow }) => flow.trigger === block)
  if (!endpoint) throw new Error('The deployed version has no such endpoint any more.')
  const request = requestIn(payload)
  const scopes = payload.caller_scopes
  return {
    ...{ flow: endpoint.flow, blueprint, request, input: endpoint.start(request) },
    callerScopes: Array.isArray(scopes) ? new Set(textsIn(scopes)) : undefined,
    beforeReply(_session, { code }) {
      if (code >= 400) throw new Error(repliedWith(code))
    },
  }
}

function requestIn({ request, received }: JsonObject): RunRequest {
  const stored = isJsonObject(request) ? request : {}
  const { method, url, ip, headers, query, path, body, raw_body: raw } = stored
  return {
    ...{
      method: textIn(method),
      url: textIn(url),
      ip: textIn(ip),
      headers: textsBy(headers),
      query: textsBy(query),
    },
    path: Object.fromEntries(entriesOf(path).map(([name, value]) => [name, textIn(value)])),
    body,
    user: undefined,
    ...(typeof raw === 'string' && { rawBody: Buffer.from(raw, 'base64') }),
    ...(typeof received === 'number' && { received }),
  }
}

function textsBy(value: JsonValue | undefined): Record<string, string | readonly string[]> {
  return Object.fromEntries(
    entriesOf(value).map(([name, one]) => [name, typeof one === 'string' ? one : textsIn(one)]),
  )
}

function entriesOf(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return Object.entries(isJsonObject(value) ? value : {})
}
