/** Requests to a server that speaks the OpenAI-compatible API: where they go, what they cost, and what their replies hold. */
import { runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { jsonInSteps } from '../../shared/json-in-steps.ts'
import { shapeProblemInSteps } from '../../shared/numbers/exact-json.ts'
import { PinError } from '../block.ts'
import type { BlockServices } from '../block-services.ts'
import type { FlowContext } from '../context.ts'
import {
  type PreparedRequest,
  prepareRequest,
  type Sending,
  sendingIn,
  sendPrepared,
} from '../http/prepared-request.ts'
import { beginningOf, refusedReply } from '../http/read-answer.ts'
import { requestAttemptPins } from '../http/request-pins.ts'
import { type OpenAnswer, tooLong, withAnswer } from '../http/send-request.ts'
import type { HttpConnection } from '../http-connection.ts'
import type { InPins } from '../pin.ts'

/** Bytes of a reply, and characters of a piece of a stream. */
const MOST_REPLY = 8 * 1024 * 1024
const LONGEST_PIECE = 1024 * 1024
/** Characters of what is parsed at once. */
const LONGEST_SHORT = 65_536
/** Pieces of a stream. */
const MOST_PIECES = 100_000
const DAY = 86_400_000
/** Of money: counts are whole numbers. */
const PARTS = 1_000_000
/** Characters of a token, where the server does not count: too few, so that a budget is not exceeded. */
const TOKEN = 3

export const modelPins = {
  connection: {
    type: 'http_connection',
    help: 'Name of a connection to a server that speaks the OpenAI-compatible API: base address, such as https://api.example.com/v1, and key.',
  },
  model: { type: 'line', required: true, help: 'Name of the model, as the server calls it.' },
  timeout: {
    type: 'number',
    default: 60,
    min: 0.1,
    max: 600,
    help: 'Maximum seconds until a reply is complete, over all attempts.',
  },
  ...requestAttemptPins,
  price_in: {
    type: 'number',
    default: 0,
    min: 0,
    help: 'Price of a million tokens that are sent, for cost and money_per_day.',
  },
  tokens_per_day: {
    type: 'number',
    min: 0,
    integer: true,
    help: 'Maximum tokens, sent and received, in a day that begins with the first call, over all nodes. Empty: no limit.',
  },
  money_per_day: { type: 'number', min: 0, help: 'The same for the cost. Empty: no limit.' },
  budget: {
    type: 'value',
    help: 'Blocks with the same name count together, in all blueprints, such as a customer. Empty: this block counts alone.',
  },
} as const satisfies InPins

export const usagePins = {
  exceeded: {
    type: 'flow',
    help: 'Taken when the day has no tokens or money left: nothing is sent. Not wired: the block fails, and a request gets 429.',
  },
  tokens_in: {
    type: 'number',
    help: 'Tokens that were sent, as the server counts them; estimated if it does not.',
  },
  cost: { type: 'number', help: 'Cost of the tokens, by price_in and price_out.' },
} as const

export interface Usage {
  readonly tokensIn: number
  readonly tokensOut: number
}

interface Budget {
  readonly price_in: number
  readonly price_out?: number
  readonly tokens_per_day: number | undefined
  readonly money_per_day: number | undefined
  readonly budget: string | undefined
}

/** Who counts: a block, unless the budget has a name. */
interface Counting extends Pick<FlowContext, 'block'> {
  readonly services: Pick<BlockServices, 'counts'>
  /** Of the run. */
  readonly variables?: FlowContext['variables']
}

/** Of all models of a run, whichever blocks have asked them. */
interface RunUsage {
  tokens: number
  cost: number
  milliseconds: number
}

/** By the variables of the run, which are one object in all of its frames. */
const ofRuns = new WeakMap<object, RunUsage>()

/** What was used in one execution of a block and in its run, and what the day still allows. */
export class ModelUsage {
  tokensIn = 0
  tokensOut = 0
  readonly run: RunUsage
  readonly #budget: Budget
  readonly #context: Counting

  constructor(budget: Budget, context: Counting) {
    this.#budget = budget
    this.#context = context
    const { variables } = context
    this.run = (variables && ofRuns.get(variables)) ?? { tokens: 0, cost: 0, milliseconds: 0 }
    if (variables) ofRuns.set(variables, this.run)
  }

  get tokens(): number {
    return this.tokensIn + this.tokensOut
  }

  get cost(): number {
    return this.#costOf(this)
  }

  #costOf({ tokensIn, tokensOut }: Usage): number {
    const { price_in: priceIn, price_out: priceOut = 0 } = this.#budget
    return Math.round(tokensIn * priceIn + tokensOut * priceOut) / PARTS
  }

  /** Seconds until the day ends that has nothing left; undefined while there is something. */
  async exceeded(): Promise<number | undefined> {
    const { tokens_per_day: tokens, money_per_day: money } = this.#budget
    const counts = [
      ...(tokens === undefined ? [] : [this.#count('tokens', tokens, 0)]),
      ...(money === undefined ? [] : [this.#count('money', Math.floor(money * PARTS), 0)]),
    ]
    const refused = (await Promise.all(counts)).find(({ allowed }) => !allowed)
    return refused?.retryAfter
  }

  /** Adds the time of a request, also of one that fails. */
  async timed<T>(clock: Pick<FlowContext, 'now'>, work: () => Promise<T>): Promise<T> {
    const began = clock.now()
    try {
      return await work()
    } finally {
      this.run.milliseconds += Math.max(0, clock.now() - began)
    }
  }

  /** Calls that are under way at once all count, also beyond what the day allows. */
  async add(usage: Usage): Promise<void> {
    this.tokensIn += usage.tokensIn
    this.tokensOut += usage.tokensOut
    this.run.tokens += usage.tokensIn + usage.tokensOut
    this.run.cost += this.#costOf(usage)
    const { tokens_per_day: tokens, money_per_day: money } = this.#budget
    const counted = [
      tokens !== undefined &&
        this.#count('tokens', Number.MAX_SAFE_INTEGER, usage.tokensIn + usage.tokensOut),
      money !== undefined &&
        this.#count('money', Number.MAX_SAFE_INTEGER, Math.ceil(this.#costOf(usage) * PARTS)),
    ]
    await Promise.all(counted)
  }

  #count(what: 'tokens' | 'money', most: number, amount: number) {
    const name = this.#budget.budget?.trim() ?? ''
    const together = name === '' ? ['block', this.#context.block ?? ''] : ['name', name]
    return this.#context.services.counts.count({
      key: JSON.stringify(['model', what, ...together]),
      window: DAY,
      most,
      amount,
    })
  }
}

export interface RunLimits {
  readonly timeout: number
  readonly tokens_per_run: number
  readonly money_per_run: number | undefined
  readonly seconds_per_run: number | undefined
}

/** Throws for a run that has used more than it may; else gives for how many seconds the next request may take. */
export function secondsLeft({ run }: ModelUsage, limits: RunLimits): number {
  const { tokens_per_run: tokens, money_per_run: money, seconds_per_run: seconds, timeout } = limits
  const over = (most: number, what: string, pin: string) =>
    new QuoinError('UNAVAILABLE', `the models of the run used more than ${most}${what}, which is ${pin}`)
  if (run.tokens > tokens) throw over(tokens, ' tokens', 'tokens_per_run')
  // Sums of parts of a cent are not exact.
  if (money !== undefined && Math.round((run.cost - money) * PARTS) > 0)
    throw over(money, '', 'money_per_run')
  if (seconds === undefined) return timeout
  const left = seconds - run.milliseconds / 1_000
  if (left <= 0) throw over(seconds, ' seconds', 'seconds_per_run')
  return Math.min(timeout, left)
}

/** For a flow that has no way for it. */
export function budgetExceeded(retryAfter: number): QuoinError {
  return new QuoinError('RATE_LIMITED', 'The budget of the model for today is used up. Try again later.', {
    retryAfter,
  })
}

export interface Asked {
  readonly connection: HttpConnection | undefined
  readonly url: string
  readonly timeout: number
  readonly attempts: number | undefined
  readonly back_off: string | undefined
}

export interface ModelServer {
  /** Gives the object of the reply. `onPiece`: the reply comes as events, of which each is given. */
  send(body: JsonObject, onPiece?: (piece: JsonObject) => Promise<void>): Promise<JsonObject>
}

/** `lost` is told of each attempt that was sent and brought no whole reply: the server has read it, and counts it. */
export function modelServer(
  asked: Asked,
  context: Pick<FlowContext, 'allowedHosts' | 'now' | 'signal' | 'deadline' | 'outgoing'>,
  lost: (usage: Usage) => Promise<void>,
): ModelServer {
  const sending: Sending = sendingIn(asked, { retries: 0 }, context)
  return {
    async send(body, onPiece) {
      const prepared = await preparedFor(asked, body, context)
      const answer = await sendPrepared(prepared, sending, async (request, limits) => {
        let pieces = 0
        const counting =
          onPiece &&
          ((piece: JsonObject) => {
            pieces += 1
            return onPiece(piece)
          })
        try {
          return await withAnswer(request, prepared.agent, limits, (open) => readAnswer(open, counting))
        } catch (error) {
          // A piece of a stream is about a token.
          if (!isUnsent(error)) await lost(usageIn({}, body, pieces * TOKEN))
          throw error
        }
      })
      if ('reply' in answer) return answer.reply
      throw refusedReply(answer, messageOf(answer.bytes))
    },
  }
}

async function readAnswer(
  { body, ...head }: OpenAnswer,
  onPiece: ((piece: JsonObject) => Promise<void>) | undefined,
) {
  if (head.code < 200 || head.code > 299) return { ...head, bytes: await beginningOf(body) }
  const type = String(head.headers['content-type'] ?? '')
  if (!onPiece || !type.startsWith('text/event-stream'))
    return { ...head, reply: await replyOf(await textOf(body)) }
  await readPieces(body, onPiece)
  return { ...head, reply: {} }
}

/** Whether the server was not reached: nothing was read there. */
function isUnsent(error: unknown): boolean {
  const cause = error instanceof QuoinError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && UNSENT.has(String(cause.code))
}

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

function preparedFor(
  { connection, url }: Asked,
  body: JsonObject,
  context: Pick<FlowContext, 'allowedHosts'>,
): Promise<PreparedRequest> {
  const headers = { accept: 'application/json, text/event-stream' }
  return prepareRequest(
    { connection, url, method: 'POST', headers, query: undefined, body, bodyAs: 'json' },
    context,
  )
}

/** What the server says of the error, such as a model that it does not have. */
function messageOf(bytes: Uint8Array): string {
  const reply = parsed(new TextDecoder().decode(bytes))
  const error = isJsonObject(reply) ? reply.error : undefined
  const message = isJsonObject(error) ? error.message : error
  return typeof message === 'string' ? `: ${message.slice(0, 300)}` : ''
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MOST_REPLY) throw tooLong(MOST_REPLY)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size).toString()
}

/** In turns: 8 MiB of `[]` took a quarter of a second. A short one at once: most are pieces of a stream. */
async function replyOf(text: string): Promise<JsonObject> {
  const reply = text.length <= LONGEST_SHORT ? parsed(text) : await runCooperatively(longReply(text))
  if (isJsonObject(reply)) return reply
  throw new QuoinError('UNAVAILABLE', 'the model server replied with something other than a JSON object')
}

/** Its parts are counted first: as values, 2.6 million `[]` in 8 MiB took 500 MB, and 600,000 names a turn of 0.3 s. */
function* longReply(text: string): Steps<JsonValue | undefined> {
  const problem = yield* shapeProblemInSteps(text)
  if (problem !== undefined)
    throw new QuoinError('UNAVAILABLE', `the model server replied with JSON that ${problem}`)
  try {
    return yield* jsonInSteps(text)
  } catch {
    return undefined
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Server-sent events with JSON, and `[DONE]` at the end. They come cut at any byte. */
async function readPieces(
  body: AsyncIterable<Buffer>,
  onPiece: (piece: JsonObject) => Promise<void>,
): Promise<void> {
  const decoder = new TextDecoder()
  let [rest, size, pieces] = ['', 0, 0]
  for await (const chunk of body) {
    size += chunk.byteLength
    const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n')
    // Only what has arrived is looked through: a line of a megabyte that comes a byte at a time is joined once.
    rest += end
    if (size > MOST_REPLY || rest.length > LONGEST_PIECE) throw tooLong(MOST_REPLY)
    if (lines.length === 0) continue
    const whole = [rest, ...lines]
    rest = whole.pop() ?? ''
    for (const line of whole) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : ''
      if (data === '[DONE]') return
      if (data === '') continue
      pieces += 1
      if (pieces > MOST_PIECES) throw tooLong(MOST_REPLY)
      await onPiece(await replyOf(data))
    }
  }
  throw new QuoinError('UNAVAILABLE', 'the model server ended its reply before it was complete')
}

/** As the server counts, else by the length of the texts. */
export function usageIn(reply: JsonObject, sent: JsonValue, received: number): Usage {
  const usage = isJsonObject(reply.usage) ? reply.usage : {}
  const counted = (value: JsonValue | undefined, characters: number) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1e9
      ? value
      : Math.ceil(characters / TOKEN)
  return {
    tokensIn: counted(usage.prompt_tokens, charactersIn(sent)),
    tokensOut: counted(usage.completion_tokens, received),
  }
}

/** About as many as its JSON has, which is not written for that. */
function charactersIn(value: JsonValue): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 4
  let characters = 2
  for (const [key, one] of Object.entries(value))
    characters += charactersIn(one) + (Array.isArray(value) ? 1 : key.length + 4)
  return characters
}

/** Throws PinError for what no request may hold. */
export function textFor(pin: string, value: JsonValue, most: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length > most) throw new PinError(pin, `must have at most ${most} characters`)
  return text
}
