/**
 * Code that asks for what is outside while it runs, and what it is answered. It is run again from its beginning each time that something was
 * answered, so that no thread waits for a server.
 */
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, isLargerThan, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { prepareRequest, sendingIn, sendPrepared } from '../http/prepared-request.ts'
import { headersOf, readBody } from '../http/read-answer.ts'
import { sendRequest } from '../http/send-request.ts'
import { HttpConnection } from '../http-connection.ts'
import type { CodeOutcome, ModuleCall } from './code-threads.ts'

/** What a block was told: it is run again from its beginning with it. */
export interface Answer {
  readonly request: string
  /** JSON; without it nothing. */
  readonly value?: string
  readonly problem?: string
}

/** Bytes of a reply: with all other answers it has to fit into the input of the next call. */
const MOST_REPLY = 256 * 1024
const LONGEST_PROBLEM = 500
/** How often a run may begin again with answers, and what it may ask for together. */
const MOST_ROUNDS = 50
const MOST_ASKS = 100

/** What a run of code has around it. */
export interface Surroundings {
  readonly settings: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** `request`: JSON. */
  answer(request: string): Promise<Answer>
}

/**
 * Runs modules that may ask for what is outside, from their beginning each time that something was answered, so that no thread waits for a server.
 * Gives the JSON of what `run` of the entry gave. `failed` makes an error of words behind "it".
 */
export async function runAsking(
  module: Omit<ModuleCall, 'input'>,
  inputs: Readonly<Record<string, unknown>>,
  { settings, signal, answer, failed }: Surroundings & { failed(what: string): Error },
): Promise<string | undefined> {
  const { MOST_TEXT, runCode } = await import('./code-threads.ts')
  const tooLong = () => failed(`has inputs and answers of more than ${MOST_TEXT} characters`)
  if (isLargerThan(Object.values(inputs), MOST_TEXT / 2, MOST_TEXT))
    throw failed(`has inputs of more than ${MOST_TEXT} characters of JSON together`)
  const written = writtenInputs(inputs)
  const answers: Answer[] = []
  let size = 0
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const input = JSON.stringify([written.values, written.dates, settings, answers])
    if (input.length > MOST_TEXT) throw tooLong()
    const outcome = await runCode({ ...module, input }, signal)
    if (outcome.kind === 'given') return outcome.text
    if (outcome.kind !== 'asks') throw failed(failureOf(outcome, module.timeout))
    const asked = readJson(outcome.text ?? '')
    const requests: readonly JsonValue[] = 'value' in asked && Array.isArray(asked.value) ? asked.value : []
    if (answers.length + requests.length > MOST_ASKS) throw failed(`asks for more than ${MOST_ASKS} things`)
    for (const request of requests) {
      signal.throwIfAborted()
      const answered = await answer(String(request))
      size += answered.value?.length ?? 0
      // Before all of it is written as one text.
      if (size > MOST_TEXT) throw tooLong()
      answers.push(answered)
    }
  }
  throw failed(`asks for something more than ${MOST_ROUNDS} times, one after the other`)
}

/** Connections are the names of their pins: what they hold stays here. */
function writtenInputs(inputs: Readonly<Record<string, unknown>>) {
  const dates = Object.keys(inputs).filter((pin) => inputs[pin] instanceof Date)
  const values = Object.fromEntries(
    Object.entries(inputs).map(([pin, value]) => [
      pin,
      value instanceof HttpConnection ? { connection: pin } : value,
    ]),
  )
  return { dates, values }
}

/** Words behind "it". */
export function failureOf({ kind, text = 'failed' }: CodeOutcome, timeout: number): string {
  if (kind === 'late') return `did not end within ${timeout} ms of processor time`
  return kind === 'threw' ? `threw ${text}` : `was ended: ${text}`
}

/** Faults that the block can see and go on with. Others end its run. */
const seen = new Set(['INVALID_BODY', 'INVALID_QUERY', 'CONFLICT', 'NOT_FOUND', 'INSUFFICIENT_PERMISSIONS'])

/** Not permitted, or not to be understood: words for the block. */
export class Refused extends Error {}

/** `request`: JSON, a list of what is asked for and its words. Throws what the code cannot go on with. */
export async function answerOf(
  request: string,
  signal: AbortSignal,
  work: (kind: JsonValue | undefined, words: readonly JsonValue[]) => Promise<string | undefined>,
): Promise<Answer> {
  const read = readJson(request)
  const [kind, ...words]: readonly JsonValue[] =
    'value' in read && Array.isArray(read.value) ? read.value : []
  try {
    const value = await work(kind, words)
    return { request, ...(value !== undefined && { value }) }
  } catch (error) {
    signal.throwIfAborted()
    const problem = problemOf(error, kind === 'call')
    if (problem === undefined) throw error
    return { request, problem: problem.slice(0, LONGEST_PROBLEM) }
  }
}

function problemOf(error: unknown, isCall: boolean): string | undefined {
  if (error instanceof Refused) return error.message
  if (error instanceof PinError) return `${error.pin} ${error.message}`
  const isSeen =
    error instanceof QuoinError && (seen.has(error.code) || (isCall && error.code === 'UNAVAILABLE'))
  return isSeen ? error.message : undefined
}

/** `hosts`: as permissions of extensions. `inputs`: those of the block, with its connections. */
interface Reachable {
  readonly hosts: readonly string[]
  readonly inputs: Readonly<Record<string, unknown>>
}

/** The reply as JSON, whatever its status. A redirect is a reply: it may lead to a host that is not permitted. */
export async function callOver(
  words: readonly JsonValue[],
  { hosts, inputs }: Reachable,
  context: FlowContext,
): Promise<string> {
  const [handle, written] = words
  const pin = isJsonObject(handle) && typeof handle.connection === 'string' ? handle.connection : ''
  const connection = Object.hasOwn(inputs, pin) ? inputs[pin] : undefined
  if (!(connection instanceof HttpConnection))
    throw new Refused(
      'call takes what a pin of the type http_connection gives, and this one is empty or another value',
    )
  const { hostname } = connection.open().baseUrl
  if (!hosts.some((host) => isHost(host, hostname)))
    throw new Refused(`the extension may not call the host ${hostname}`)
  const {
    method = 'GET',
    path = '',
    query,
    headers,
    body,
    timeout = 10,
  } = isJsonObject(written) ? written : {}
  if (typeof method !== 'string' || !/^(GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method))
    throw new Refused('method must be GET, HEAD, POST, PUT, PATCH or DELETE')
  if (typeof path !== 'string') throw new Refused('path must be a text')
  if (typeof timeout !== 'number' || timeout < 0.1 || timeout > 600)
    throw new Refused('timeout must be from 0.1 to 600 seconds')
  const prepared = await prepareRequest(
    {
      connection,
      url: path,
      method,
      headers: objectIn('headers', headers),
      query: objectIn('query', query),
      body,
    },
    context,
  )
  // What it has written is not left open while the other server is waited for.
  await context.commit()
  const sending = sendingIn({ timeout, attempts: 1, back_off: undefined }, { retries: 0 }, context)
  const answer = await sendPrepared(prepared, sending, (request, limits) =>
    sendRequest({ ...request, follow: false }, prepared.agent, {
      ...limits,
      maxSize: MOST_REPLY,
      isFixed: true,
    }),
  )
  const reply = await readBody(answer, 'text')
  return JSON.stringify({ status: answer.code, headers: headersOf(answer), body: reply ?? null })
}

function isHost(permitted: string, host: string): boolean {
  if (permitted === '*') return true
  return permitted.startsWith('*.') ? host.endsWith(permitted.slice(1)) : host === permitted
}

function objectIn(name: string, value: JsonValue | undefined): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw new Refused(`${name} must be an object`)
  return value
}
