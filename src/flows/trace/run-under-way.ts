/** One traced run from its beginning to its end: what is told of it at each moment. */
import { isUtf8 } from 'node:buffer'
import { ChannelReply, FileBody, type PlainText, type Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { blockMark } from '../../expressions/language/rename-names.ts'
import type { Compared, RunStatus, RunSummary } from '../../shared/api/blueprints/runs.ts'
import type { Block } from '../../shared/blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { recordedLetter } from '../background/dead-letter-requests.ts'
import { BlockFailure } from '../compile/block-failure.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import { hasMasked, shownJson, showValue } from '../values/shown-value.ts'
import type { Breakpoints } from './breakpoints.ts'
import { plainInput } from './recorded-request.ts'
import type { RunDetail, RunRecord } from './run-record.ts'
import { type RunTrace, VALUE_BYTES } from './run-trace.ts'
import type { FlowOfTrigger } from './traced-flows.ts'

// The marks of blocks, each worked out once, when a run that passed the block is stored for the first time.

const byGuid = new WeakMap<readonly Block[], ReadonlyMap<string, Block>>()
const marks = new WeakMap<Block, string>()

/** Of the blocks that have steps, and are of these. */
function marksOf(
  blocks: readonly Block[],
  steps: readonly { readonly block: string }[],
): Record<string, string> {
  const all = byGuid.get(blocks) ?? new Map(blocks.map((block) => [block.guid, block]))
  byGuid.set(blocks, all)
  const passed = [...new Set(steps.map(({ block }) => block))]
  return Object.fromEntries(
    passed.flatMap((guid) => {
      const block = all.get(guid)
      return block ? [[guid, markOf(block)]] : []
    }),
  )
}

function markOf(block: Block): string {
  const mark = marks.get(block) ?? blockMark(block)
  marks.set(block, mark)
  return mark
}

/** What is known of a run before it begins. */
export interface RunAbout {
  readonly guid: string
  readonly node: string
  readonly blueprint: string
  readonly trigger: FlowOfTrigger
  /** What it runs, with the blocks of the whole blueprint. */
  readonly blocks: readonly Block[]
  /** Number of the deployment; 0 for blocks that are not deployed. */
  readonly deployment: number
  readonly replayOf: string | null
  readonly recordedAs: RunSummary['recorded_as']
  /** Milliseconds since 1970. */
  readonly started: number
}

const BODY_BYTES = 64 * 1024
const HEAD_BYTES = 16 * 1024

export class RunUnderWay {
  readonly about: RunAbout
  readonly trace: RunTrace
  /** undefined for a run that never pauses. */
  brake: Breakpoints | undefined
  /** Set by what compares a replay with the run that it repeats. */
  compared: Compared | null = null
  readonly #start: RunStart
  readonly #request: JsonObject | null
  readonly #input: JsonValue
  #reply: JsonObject | null = null
  #end: RunEnd | undefined

  constructor(about: RunAbout, start: RunStart, trace: RunTrace) {
    this.about = about
    this.trace = trace
    this.#start = start
    // Before any block: what is secret in the request is dots in its steps.
    this.#request = start.request ? this.#shownRequest(start.request) : null
    this.#input = start.request ? null : plainInput(start.input, trace.secrets)
  }

  replied({ code, headers, value, page }: Reply): void {
    this.#reply = {
      status: code,
      headers: this.#shown(headers, VALUE_BYTES),
      body: page
        ? this.#shown(page, BODY_BYTES)
        : value === undefined
          ? null
          : this.#shown(shownBody(value), BODY_BYTES),
    }
  }

  ended(end: RunEnd): void {
    this.#end = end
    if (end.replied || this.#reply || !this.#start.request || this.about.trigger.type !== 'http') return
    const { error } = end
    const body = error ? { error: error.message, ...(error.code === 'INTERNAL' && { run: end.run }) } : null
    this.#reply = { status: error?.status ?? 204, headers: {}, body }
  }

  summary(): RunSummary {
    const { guid, blueprint, trigger, deployment, replayOf, recordedAs, started } = this.about
    const status = this.#reply?.status
    return {
      guid,
      blueprint,
      trigger: trigger.flow.trigger,
      trigger_type: trigger.type,
      label: trigger.label,
      status: this.#status,
      started: new Date(started).toISOString(),
      us: this.trace.elapsed,
      reply: typeof status === 'number' ? { status } : null,
      error: this.#error,
      steps: this.trace.count,
      user: textOf(this.#user?.username),
      deployment,
      replay_of: replayOf,
      recorded_as: recordedAs,
    }
  }

  detail(): RunDetail {
    const meta = this.#user?._meta
    return {
      request: this.#request && { ...this.#request, ...this.#signatures },
      reply: this.#reply,
      steps: this.trace.steps.map((step) => ({ ...step })),
      cut: this.trace.cut,
      marks: marksOf(this.about.blocks, this.trace.steps),
      outside: this.trace.outside.map((step) => ({ ...step })),
      result: this.#end?.result === undefined ? null : this.#shown(this.#end.result, BODY_BYTES),
      given: this.#input,
      letter: this.#letter,
      user_guid: isJsonObject(meta) ? textOf(meta.guid) : null,
      compared: this.compared,
    }
  }

  record(): RunRecord {
    const pause = this.brake?.pause
    const paused = pause && {
      block: pause.step.block,
      since: new Date(pause.since).toISOString(),
      until: new Date(pause.until).toISOString(),
    }
    return {
      ...this.summary(),
      node: this.about.node,
      paused: paused ?? null,
      detail: JSON.stringify(this.detail()),
    }
  }

  get #status(): RunStatus {
    // A refusal is what the flow is for.
    const isRefusal = this.about.recordedAs === 'refused'
    if (this.#end) return this.#end.error && !isRefusal ? 'failed' : 'ended'
    return this.brake?.pause ? 'paused' : 'running'
  }

  get #user(): JsonObject | undefined {
    return this.#start.request ? this.#start.request.user : this.#start.user
  }

  /** The true reason, for the builder of the flow; a client never sees it. */
  get #error(): RunSummary['error'] {
    const error = this.#end?.error
    if (!error) return null
    const { cause } = error
    const { failed } = this.trace
    const block = cause instanceof BlockFailure ? cause.block : failed?.next === null ? failed.block : null
    const message = block !== null && failed?.block === block ? failed.error : undefined
    const reason = message ?? (cause instanceof Error ? cause.message : error.message)
    return { code: error.code, message: this.trace.secrets.hide(reason), block }
  }

  /** Of a run that was neither a replay nor a try: those have left nothing behind. */
  get #letter(): JsonObject | null {
    const { recordedAs, started } = this.about
    const isReal = recordedAs === 'traced' || recordedAs === 'failed'
    return isReal && this.#end ? recordedLetter(this.#start, this.#end, started) : null
  }

  #shownRequest({ method, url, headers, query, path: params, body, rawBody }: RunRequest): JsonObject {
    const shown = {
      headers: this.#shown(headers, HEAD_BYTES),
      query: this.#shown(query, HEAD_BYTES),
      params: this.#shown(params, HEAD_BYTES),
      body: body === undefined ? null : this.#shown(body, BODY_BYTES),
    }
    const path = this.trace.secrets.hide(url.split('?', 1)[0] ?? '')
    return { method, path, ...shown, ...(rawBody && this.#shownRawBody(rawBody, shown.body)) }
  }

  /** The body as it was sent. Not one with a secret: its text has no names by which all of them would be found. */
  #shownRawBody(bytes: Uint8Array, body: JsonValue): JsonObject {
    if (bytes.byteLength === 0 || bytes.byteLength > BODY_BYTES || !isUtf8(bytes)) return {}
    const text = Buffer.from(bytes).toString('utf8')
    const isOpen = !hasMasked(body) && this.trace.secrets.hide(text) === text
    return isOpen ? { raw_body: text } : {}
  }

  get #signatures(): JsonObject {
    const { found = {} } = this.#start.request?.signatures ?? {}
    return Object.keys(found).length === 0 ? {} : { signatures: found }
  }

  #shown(value: unknown, most: number): JsonValue {
    return shownJson(showValue(value, this.trace.secrets, most))
  }
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function shownBody(value: Exclude<Reply['value'], undefined>): JsonValue | StoredJson | PlainText {
  if (value instanceof FileBody) return { file: value.asset }
  return value instanceof ChannelReply ? { channel: value.channel } : value
}
