/**
 * Runs one block as a run would: settings read, pins converted and finished, and a context that remembers what the
 * block did with the world. What it gives is checked against its out-pins. For the tests beside the blocks.
 */
import type { BlockDefinition, FlowBlock, TriggerBlock, ValueBlock } from '../src/blocks/block.ts'
import type { BlockServices } from '../src/blocks/block-services.ts'
import type {
  Cache,
  FlowContext,
  FunctionSignature,
  LaterCall,
  LogLevel,
  RunVariables,
  Wait,
} from '../src/blocks/context.ts'
import { HttpConnection } from '../src/blocks/http-connection.ts'
import type { InPin, InPins, OutPins } from '../src/blocks/pin.ts'
import { converterFor, finishPin } from '../src/blocks/pins/convert-pin.ts'
import { readSettings } from '../src/blocks/pins/read-settings.ts'
import type { Reply } from '../src/blocks/reply.ts'
import type { RunRequest } from '../src/blocks/run-request.ts'
import { Secret } from '../src/blocks/secret.ts'
import type { Message } from '../src/flows/run/message-buffer.ts'
import { runVariables } from '../src/flows/run/run-services.ts'
import type { CustomOutPin } from '../src/shared/blueprint.ts'
import type { JsonObject, JsonValue } from '../src/shared/json.ts'
import type { Mail } from '../src/shared/mail/mail.ts'
import type { Session } from '../src/storage/database.ts'
import type { JobRetries } from '../src/storage/job.ts'
import type { ManyChange } from '../src/storage/many/many-change.ts'
import { blockServices } from './bare-services.ts'

type Parameters = Readonly<Record<string, JsonValue | undefined>>

export interface Circumstances {
  /** By in-pin, as wires of the type `any` would give them. An array for pins that take several, a function (or one value) for `perFrame` pins. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /** The same for pins that the settings add. A pin that is not named is not wired. */
  readonly more?: Readonly<Record<string, unknown>>
  /** The block's settings as saved. */
  readonly fields?: JsonObject
  /** Needed by blocks that read or write documents; the test commits. */
  readonly session?: Session
  readonly cache?: Cache
  /** None if not said. */
  readonly references?: FlowContext['references']
  readonly rules?: FlowContext['rules']
  readonly request?: RunRequest
  /** Milliseconds since 1970; without it the clock stands at {@link noon}. */
  readonly now?: () => number
  readonly signal?: AbortSignal
  /** None if not said. */
  readonly deadline?: number
  readonly allowedHosts?: readonly string[]
  readonly hops?: number
  /** None if not said. */
  readonly publicUrl?: string
  readonly services?: Partial<BlockServices>
  /** Guid of the block. */
  readonly block?: string
  /** UTC if not said. */
  readonly timeZone?: string
  /** The out-pins from which wires leave; all of them when not said. */
  readonly wired?: readonly string[]
  /** What `call` finds. */
  readonly functions?: Readonly<Record<string, (parameters: Parameters) => JsonValue | undefined>>
  /** What `signature` finds. */
  readonly signatures?: Readonly<Record<string, FunctionSignature>>
  /** The user for whom a run without a request is. */
  readonly user?: JsonObject
  /** What a pass of a body does; false ends the loop. */
  readonly body?: (input: Readonly<Record<string, unknown>>) => boolean
  readonly variables?: RunVariables
  /** What `enqueue` gives; `job 1` if not said. */
  readonly enqueue?: FlowContext['enqueue']
  /** What `wait` gives; `wait 1` if not said. */
  readonly wait?: FlowContext['wait']
}

export interface Ran {
  readonly outputs: Readonly<Record<string, unknown>>
  /** The flow out-pin that goes on; null for none and for value blocks. */
  readonly next: string | null
  readonly replies: readonly Reply[]
  readonly logs: readonly { readonly level: LogLevel; readonly value: JsonValue | undefined }[]
  readonly calls: readonly { readonly name: string; readonly parameters: Parameters }[]
  readonly enqueued: readonly LaterCall[]
  /** What was given to `wait`, in order. */
  readonly waits: readonly Wait[]
  /** What was given to `changeLater`, in order. */
  readonly changes: readonly ManyChange[]
  /** What was given to `mailLater`, in order. */
  readonly mails: readonly Mail[]
  /** The attempts and pauses of each. */
  readonly mailRetries: readonly (JobRetries | undefined)[]
  readonly published: readonly Message[]
  /** What was given to the passes of a body, in order. */
  readonly passes: readonly Readonly<Record<string, unknown>>[]
  /** The values given to `finish`, in order. */
  readonly finished: readonly (JsonValue | undefined)[]
  /** For each `commit`: how many passes of a body there were before it. */
  readonly commits: readonly number[]
}

/** 2026-01-31 12:00 UTC. */
export const noon = Date.UTC(2026, 0, 31, 12)

/** Throws what the block throws, and PinError for inputs that do not fit, as a run sees them. */
export async function runBlock(block: FlowBlock | ValueBlock, input: Circumstances = {}): Promise<Ran> {
  const settings = settingsOf(block, input.fields)
  const inputs = inputsOf(block.in, input.inputs ?? {})
  const more = moreOf(block.moreIn?.(settings) ?? {}, input.more ?? {})
  const memory = {
    replies: [],
    logs: [],
    calls: [],
    enqueued: [],
    waits: [],
    changes: [],
    mails: [],
    mailRetries: [],
    published: [],
    passes: [],
    finished: [],
    commits: [],
  }
  const context = contextOf(input, { settings, more }, memory)
  const outPins = { ...block.out, ...block.moreOut?.(settings, []) }
  if (block.kind === 'value') {
    const outputs = block.value(inputs, context)
    checkOutputs(block, outPins, outputs)
    return { ...memory, outputs, next: null }
  }
  const { next = 'flow', ...outputs } = (await block.run(inputs, context)) ?? {}
  checkOutputs(block, outPins, outputs)
  return { ...memory, outputs, next: checkedNext(block, outPins, next) }
}

export interface Deployment {
  readonly inputs?: Parameters
  readonly fields?: JsonObject
  readonly custom?: readonly CustomOutPin[]
}

/** What a trigger listens for, with these inputs and settings. */
export function listenTo<Block extends TriggerBlock>(
  block: Block,
  input?: Deployment,
): ReturnType<Block['listen']>
export function listenTo(block: TriggerBlock, input: Deployment = {}): unknown {
  const settings = settingsOf(block, input.fields)
  return block.listen(inputsOf(block.in, input.inputs ?? {}), settings, input.custom ?? [])
}

/** An anonymous GET of `/api/v1/tasks`, with changes. */
export function requestWith(changes: Partial<RunRequest> = {}): RunRequest {
  return {
    method: 'GET',
    url: '/api/v1/tasks',
    headers: {},
    ip: '127.0.0.1',
    query: {},
    path: {},
    body: undefined,
    user: undefined,
    ...changes,
  }
}

function settingsOf(block: BlockDefinition, fields: JsonObject = {}) {
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(block.settings, name))
  if (unknown.length > 0) throw new TypeError(`${block.identifier} has no setting ${unknown.join(', ')}.`)
  const { values, problems } = readSettings(block.settings, fields)
  const [problem] = problems
  if (problem) throw new TypeError(`The setting ${problem.setting} ${problem.message}.`)
  return values
}

function inputsOf(pins: InPins, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  for (const id of Object.keys(input)) if (!pins[id]) throw new TypeError(`There is no in-pin ${id}.`)
  const inputs: Record<string, unknown> = {}
  for (const [id, pin] of Object.entries(pins))
    if (pin.type !== 'flow') inputs[id] = inputOf(id, pin, input[id])
  return inputs
}

function moreOf(pins: InPins, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const all = inputsOf(pins, input)
  return Object.fromEntries(Object.entries(all).filter(([id, value]) => id in input || value !== undefined))
}

function inputOf(id: string, pin: InPin, input: unknown): unknown {
  // A text at a sort pin is a literal; anything else came by a wire.
  const convert = converterFor(id, pin, pin.type === 'sort' && typeof input !== 'string' ? 'sort' : 'any')
  // The compiler makes it of the literal, in `named-getter.ts`.
  if (input instanceof Secret || input instanceof HttpConnection) return input
  if (pin.perFrame) {
    if (input === undefined) return undefined
    const pull = typeof input === 'function' ? input : () => input
    return (frame: unknown) => finishPin(id, pin, convert(pull(frame)))
  }
  if (pin.several && Array.isArray(input)) return finishPin(id, pin, input.map(convert))
  return finishPin(id, pin, pin.several && input !== undefined ? [convert(input)] : convert(input))
}

interface Memory {
  readonly replies: Reply[]
  readonly logs: Ran['logs'][number][]
  readonly calls: Ran['calls'][number][]
  readonly enqueued: LaterCall[]
  readonly waits: Wait[]
  readonly changes: ManyChange[]
  readonly mailRetries: (JobRetries | undefined)[]
  readonly mails: Mail[]
  readonly published: Message[]
  readonly passes: Readonly<Record<string, unknown>>[]
  readonly finished: (JsonValue | undefined)[]
  readonly commits: number[]
}

function contextOf(
  input: Circumstances,
  resolved: Pick<FlowContext, 'settings' | 'more'>,
  memory: Memory,
): FlowContext {
  const now = input.now ?? (() => noon)
  return {
    ...resolved,
    request: input.request,
    user: input.request ? input.request.user : input.user,
    now,
    wired: (pin) => input.wired?.includes(pin) ?? true,
    references: input.references ?? (() => []),
    rules: input.rules ?? (() => []),
    get session() {
      if (!input.session) throw new TypeError('The block uses the session: give runBlock one.')
      return input.session
    },
    cache: input.cache ?? cacheWith(now),
    variables: input.variables ?? runVariables(),
    runBody(_pin, _element, values) {
      memory.passes.push(values)
      return input.body?.(values) ?? true
    },
    signal: input.signal ?? new AbortController().signal,
    deadline: input.deadline ?? Number.POSITIVE_INFINITY,
    allowedHosts: input.allowedHosts ?? [],
    hops: input.hops ?? 0,
    timeZone: input.timeZone ?? 'UTC',
    locale: 'en',
    publicUrl: input.publicUrl ?? '',
    reply: (reply) => void memory.replies.push(reply),
    log: (level, value) => void memory.logs.push({ level, value }),
    publish: (channel, data) => void memory.published.push({ channel, data }),
    finish: (value) => void memory.finished.push(value),
    commit: () => void memory.commits.push(memory.passes.length),
    enqueue(call) {
      memory.enqueued.push(call)
      return input.enqueue ? input.enqueue(call) : `job ${memory.enqueued.length}`
    },
    wait(wait) {
      memory.waits.push(wait)
      if (input.wait) return input.wait(wait)
      const guid = `wait ${memory.waits.length}`
      return wait.withToken ? { guid, token: `token ${memory.waits.length}` } : { guid }
    },
    changeLater(change) {
      memory.changes.push(change)
      return `job ${memory.changes.length}`
    },
    services: blockServices(input.services ?? {}),
    ...(input.block !== undefined && { block: input.block }),
    mailLater(mail, retries) {
      memory.mails.push(mail)
      memory.mailRetries.push(retries)
      return `mail ${memory.mails.length}`
    },
    signature: (name) => input.signatures?.[name],
    call(name, parameters) {
      memory.calls.push({ name, parameters })
      const called = input.functions?.[name]
      if (!called) throw new TypeError(`There is no function ${name}.`)
      return called(parameters)
    },
  }
}

function cacheWith(now: () => number): Cache {
  const kept = new Map<string, { readonly value: unknown; readonly until: number }>()
  return {
    deletions: 0,
    get(key) {
      const entry = kept.get(key)
      return entry && entry.until > now() ? entry.value : undefined
    },
    set: (key, value, seconds) => void kept.set(key, { value, until: now() + seconds * 1000 }),
    delete(key) {
      const all = key.endsWith('*')
        ? [...kept.keys()].filter((name) => name.startsWith(key.slice(0, -1)))
        : [key]
      return all.filter((name) => kept.delete(name)).length
    },
  }
}

function checkOutputs(
  block: BlockDefinition,
  pins: OutPins,
  outputs: Readonly<Record<string, unknown>>,
): void {
  for (const [id, value] of Object.entries(outputs)) {
    const pin = pins[id]
    if (!pin || pin.frame || pin.type === 'flow')
      throw new TypeError(`${block.identifier} has no value pin ${id}.`)
    if (value === null && pin.type !== 'any') throw new TypeError(`${block.identifier} gives null on ${id}.`)
    if (
      converterFor(
        id,
        { type: pin.type, help: '', raw: true },
        pin.type === 'sort' ? 'sort' : 'any',
      )(value) !== value &&
      !(value instanceof Date)
    )
      throw new TypeError(`What ${block.identifier} gives on ${id} is no ${pin.type}.`)
  }
}

function checkedNext(block: FlowBlock, pins: OutPins, next: unknown): string | null {
  if (next === null) return null
  // A block without `flow` that says nothing ends the branch.
  if (next === 'flow' && !pins.flow) return null
  if (typeof next !== 'string' || pins[next]?.type !== 'flow')
    throw new TypeError(`${block.identifier} goes on at ${String(next)}, which is no flow pin.`)
  return next
}
