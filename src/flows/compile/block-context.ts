import type { BlockServices } from '../../blocks/block-services.ts'
import type {
  CalledElement,
  FlowContext,
  FunctionSignature,
  LaterCall,
  LogLevel,
  RunVariables,
  StoredWait,
  Wait,
} from '../../blocks/context.ts'
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Settings, SettingValues } from '../../blocks/setting.ts'
import { isLargerThan, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Mail } from '../../shared/mail/mail.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import type { JobRetries } from '../../storage/job.ts'
import type { ManyChange } from '../../storage/many/many-change.ts'
import { Secrets, showValue } from '../values/shown-value.ts'
import type { Node } from './blueprint-graph.ts'
import type { Frame } from './frame.ts'

/** The log keeps 8 KB of it. A text is cut there; an object that is far longer is not written out first. */
const MOST_LOGGED = { values: 10_000, characters: 1024 * 1024 }
const TOO_LONG_TO_LOG = `A value that is too large for the log: it holds more than ${MOST_LOGGED.values.toLocaleString('en-US')} values, or more than a million characters.`

/** What a block's step does for its context: the same for all executions. */
export interface Nested {
  readonly wired: (pin: string) => boolean
  /** Whether the rules of storages count for it. */
  readonly asUser: boolean
  /** What a call has failed with, told of the caller's side. */
  callFailed(error: unknown, element: CalledElement | undefined): unknown
  runBody(
    frame: Frame,
    pin: string,
    element: number,
    input: Readonly<Record<string, unknown>>,
  ): MaybePromise<boolean>
  wait(frame: Frame, wait: Wait): MaybePromise<StoredWait>
}

/** What a flow block sees of its run. One per execution; the getters keep what is not asked for from being made. */
export class BlockContext implements FlowContext {
  readonly settings: SettingValues<Settings>
  readonly more: Readonly<Record<string, unknown>>
  readonly wired: (pin: string) => boolean
  readonly #node: Node
  readonly #frame: Frame
  readonly #nested: Nested

  constructor(node: Node, frame: Frame, more: Readonly<Record<string, unknown>>, nested: Nested) {
    this.settings = node.settings
    this.more = more
    this.wired = nested.wired
    this.#node = node
    this.#frame = frame
    this.#nested = nested
  }

  get request(): RunRequest | undefined {
    return this.#frame.run.request
  }

  get block(): string {
    return this.#node.block.guid
  }

  get user(): JsonObject | undefined {
    return this.#frame.run.user
  }

  get session(): Session {
    const { run } = this.#frame
    run.begun = true
    return this.#nested.asUser ? run.userSession : run.session
  }

  get variables(): RunVariables {
    return this.#frame.run.variables
  }

  get cache() {
    return this.#frame.run.environment.cache
  }

  get references(): FlowContext['references'] {
    const { references } = this.#frame.run.environment
    return (storage) => (references ? andThen(references(), (all) => all.of(storage)) : [])
  }

  get rules(): FlowContext['rules'] {
    return this.#frame.run.environment.rulesOf ?? noRules
  }

  get deadline(): number {
    return this.#frame.run.steps.deadline
  }

  get signal(): AbortSignal {
    return this.#frame.run.steps.signal
  }

  /** Not by `session`: that would count as reading. */
  get hops(): number {
    return this.#frame.run.session.origin.hops ?? 0
  }

  get outgoing(): FlowContext['outgoing'] {
    return this.#frame.run.environment.outgoing
  }

  get allowedHosts(): readonly string[] {
    return this.#frame.run.environment.allowedHosts()
  }

  get timeZone(): string {
    return this.#frame.run.environment.values.timeZone
  }

  get locale(): string {
    return this.#frame.run.environment.values.locale
  }

  get publicUrl(): string {
    return this.#frame.run.environment.publicUrl
  }

  now(): number {
    return this.#frame.run.environment.clock()
  }

  reply(reply: Reply): void {
    this.#frame.run.reply(reply, this.#node.block.guid)
  }

  log(level: LogLevel, value: JsonValue | undefined): void {
    if (typeof value === 'object' && isLargerThan(value, MOST_LOGGED.values, MOST_LOGGED.characters)) {
      this.#frame.run.log({ level, message: TOO_LONG_TO_LOG, block: this.#node.block.guid })
      return
    }
    const { run } = this.#frame
    run.log({ level, ...loggedValue(value, run.request), block: this.#node.block.guid })
  }

  call(
    name: string,
    parameters: Readonly<Record<string, JsonValue | undefined>>,
    element?: CalledElement,
  ): MaybePromise<JsonValue | undefined> {
    const { run, depth } = this.#frame
    const failed = (error: unknown): never => {
      throw this.#nested.callFailed(error, element)
    }
    try {
      const result = run.callFunction(name, parameters, depth + 1)
      return isPromise(result) ? result.catch(failed) : result
    } catch (error) {
      return failed(error)
    }
  }

  signature(name: string): FunctionSignature | undefined {
    return this.#frame.run.signature(name)
  }

  runBody(pin: string, element: number, input: Readonly<Record<string, unknown>>): MaybePromise<boolean> {
    return this.#nested.runBody(this.#frame, pin, element, input)
  }

  enqueue(call: LaterCall): MaybePromise<string | undefined> {
    return this.#frame.run.later.call(call)
  }

  changeLater(change: ManyChange): MaybePromise<string | undefined> {
    return this.#frame.run.later.change(change)
  }

  get services(): BlockServices {
    return this.#frame.run.services
  }

  mailLater(mail: Mail, retries?: JobRetries): MaybePromise<string | undefined> {
    return this.#frame.run.later.mail(mail, retries)
  }

  publish(channel: string, data: string): void {
    this.#frame.run.publish(channel, data)
  }

  wait(wait: Wait): MaybePromise<StoredWait> {
    if (this.#frame.depth > 0)
      throw new Error(
        'A custom function that another flow called cannot wait: its caller waits for what it returns. Run it from the queue.',
      )
    return this.#nested.wait(this.#frame, wait)
  }

  commit(): MaybePromise<void> {
    return this.#frame.run.commit()
  }

  finish(value: JsonValue | undefined): void {
    if (this.#frame.finished) return
    this.#frame.finished = true
    this.#frame.result = value
  }
}

const noRules = () => []

// What `function_console_log` writes: without secrets, as traces show values. A flow may log whole requests, and every
// user who may read the system log can read them.

/** Of JSON. The log itself keeps less of most values. */
const MOST_BYTES = 16_384

/** Those of a request are looked for once, however often its run logs. */
const ofRequests = new WeakMap<RunRequest, Secrets>()

function loggedValue(
  value: JsonValue | undefined,
  request: RunRequest | undefined,
): { readonly message: string; readonly value: JsonValue | undefined } {
  const secrets = secretsOf(request)
  if (typeof value === 'string') {
    const text = secrets.hide(value)
    return { message: text, value: text }
  }
  const { text, whole } = showValue(value, secrets, MOST_BYTES)
  return { message: text, value: whole && value !== undefined ? JSON.parse(text) : undefined }
}

function secretsOf(request: RunRequest | undefined): Secrets {
  if (!request) return new Secrets()
  const known = ofRequests.get(request)
  const secrets = known ?? new Secrets()
  if (!known) {
    ofRequests.set(request, secrets)
    const { headers, query, path, body } = request
    secrets.collect([headers, query, path, body])
  }
  // Typed on a page, they are known only after the page's own flow.
  for (const password of request.visit?.passwords ?? []) secrets.noteWhole(password)
  return secrets
}
