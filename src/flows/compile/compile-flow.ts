import type { FlowBlock } from '../../blocks/block.ts'
import type { FlowContext, LaterCall, LogLevel } from '../../blocks/context.ts'
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Settings, SettingValues } from '../../blocks/setting.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { isLargerThan } from '../../shared/json-size.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { loggedValue } from '../values/logged-value.ts'
import type { BlockCount, BlockCounts } from './block-counts.ts'
import { BlockFailure } from './block-failure.ts'
import type { Node } from './blueprint-graph.ts'
import { givenMeasure } from './bound-given.ts'
import { failureOf, type ValueCompiler, valueCompiler } from './compile-values.ts'
import type { Facts } from './fold-constants.ts'
import type { CompiledFlow, Frame, Step } from './frame.ts'

/**
 * Turns a trigger and what is behind it into steps. Flow blocks are compiled once each, also when several wires or a
 * circle lead to them; a flow out-pin with several wires starts a branch for each, in the blueprint's order.
 */
export function compileFlow(trigger: Node, facts: Facts, counts: BlockCounts): CompiledFlow {
  const { values, behind } = flowCompiler(facts, counts)
  const first = behind(trigger, 'flow')
  const store = values.storeOf(trigger)
  const accept = facts.probe?.event(trigger, store) ?? store
  return { trigger: trigger.block.guid, slots: values.slots(), accept, first }
}

/** Compiles what shares one frame: `behind` gives one step for all that follows a flow out-pin. */
export function flowCompiler(
  facts: Facts,
  counts: BlockCounts,
): { readonly values: ValueCompiler; behind(node: Node, pin: string): Step | undefined } {
  const values = valueCompiler(facts, counts)
  const steps = new Map<Node, { step: Step | undefined }>()

  function stepOf(node: Node): Step {
    const known = steps.get(node)
    if (known) return (frame) => known.step?.(frame)
    const entry: { step: Step | undefined } = { step: undefined }
    steps.set(node, entry)
    const { definition } = node
    if (definition.kind !== 'flow')
      throw new TypeError(`${node.block.type} has a flow in-pin and is not a flow block.`)
    const block = facts.probe?.flow(node, definition) ?? definition
    entry.step = flowStep(node, block, facts, values, counts.of(definition), (pin) =>
      follow(facts.behind(node, pin).map(stepOf)),
    )
    return entry.step
  }

  return { values, behind: (node, pin) => follow(facts.behind(node, pin).map(stepOf)) }
}

/** A flow that only pulls one pin of the trigger, of the type `date`. Its result is the date as text, or empty. */
export function compileDatePin(trigger: Node, pin: string, facts: Facts, counts: BlockCounts): CompiledFlow {
  const values = valueCompiler(facts, counts)
  const { gather } = values.inputsOf(trigger)
  const first: Step = (frame) => {
    try {
      const date = gather(frame)[pin]
      frame.result = date instanceof Date ? date.toISOString() : undefined
      return undefined
    } catch (error) {
      throw failureOf(trigger, error, facts)
    }
  }
  return { trigger: trigger.block.guid, slots: values.slots(), accept: () => undefined, first }
}

/** One step for all blocks behind a flow out-pin; undefined if there is none. */
function follow(steps: readonly Step[]): Step | undefined {
  if (steps.length < 2) return steps[0]
  return (frame) => {
    const waiting: Promise<void>[] = []
    try {
      for (const step of steps) {
        const branch = frame.run.drive(step, frame)
        if (isPromise(branch)) waiting.push(branch)
      }
    } catch (error) {
      // This one ends the run. Those that wait will fail too, and unheard that would end the process.
      for (const branch of waiting) branch.catch(() => undefined)
      throw error
    }
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined)
  }
}

type Given = Readonly<Record<string, unknown>> | undefined

/** The log keeps 8 KB of it. A text is cut there; an object that is far longer is not written out first. */
const MOST_LOGGED = { values: 10_000, characters: 1024 * 1024 }
const TOO_LONG_TO_LOG = `A value that is too large for the log: it holds more than ${MOST_LOGGED.values.toLocaleString('en-US')} values, or more than a million characters.`

function flowStep(
  node: Node,
  definition: FlowBlock,
  facts: Facts,
  values: ValueCompiler,
  executed: BlockCount,
  behind: (pin: string) => Step | undefined,
): Step {
  const { gather, more } = values.inputsOf(node)
  const store = values.storeOf(node)
  const wired = facts.wired(node)
  const catches = wired('error')
  const measure = givenMeasure(node)
  const next = new Map<string, Step | undefined>()
  for (const [pin, out] of node.out) if (out.type === 'flow') next.set(pin, behind(pin))

  function done(frame: Frame, given: Given): Step | undefined | Promise<Step | undefined> {
    try {
      if (measure && given) frame.run.weigh(measure(given))
    } catch (error) {
      return failed(frame, error)
    }
    store(frame, given ?? {})
    const pin = given?.next === undefined ? 'flow' : given.next
    const following = typeof pin === 'string' ? next.get(pin) : undefined
    // Nothing behind a reply may run before the reply's writes are durable: it would share their transaction.
    const settling = following && frame.run.settle()
    return settling ? settling.then(() => following) : following
  }

  function failed(frame: Frame, error: unknown): Step | undefined {
    const failure = failureOf(node, error, facts)
    if (!catches || !(failure instanceof BlockFailure)) throw failure
    store(frame, { error: failure.toPin() })
    return next.get('error')
  }

  function run(frame: Frame): Step | undefined | Promise<Step | undefined> {
    let given: MaybePromise<Given>
    try {
      given = definition.run(gather(frame), new BlockContext(node, frame, more(frame), wired))
    } catch (error) {
      return failed(frame, error)
    }
    if (!isPromise(given)) return done(frame, given)
    return given.then(
      (later) => done(frame, later),
      (error) => failed(frame, error),
    )
  }

  if (!definition.outside) {
    return (frame) => {
      frame.run.tick()
      executed.count += 1
      return run(frame)
    }
  }
  return (frame) => {
    frame.run.tick()
    executed.count += 1
    const committed = frame.run.session.commit()
    return isPromise(committed) ? committed.then(() => run(frame)) : run(frame)
  }
}

/** What a flow block sees of its run. One per execution; the getters keep what is not asked for from being made. */
class BlockContext implements FlowContext {
  readonly settings: SettingValues<Settings>
  readonly more: Readonly<Record<string, unknown>>
  readonly wired: (pin: string) => boolean
  readonly #node: Node
  readonly #frame: Frame

  constructor(
    node: Node,
    frame: Frame,
    more: Readonly<Record<string, unknown>>,
    wired: (pin: string) => boolean,
  ) {
    this.settings = node.settings
    this.more = more
    this.wired = wired
    this.#node = node
    this.#frame = frame
  }

  get request(): RunRequest | undefined {
    return this.#frame.run.request
  }

  get user(): JsonObject | undefined {
    return this.#frame.run.user
  }

  get session(): Session {
    return this.#frame.run.session
  }

  get cache() {
    return this.#frame.run.environment.cache
  }

  get signal(): AbortSignal {
    return this.#frame.run.signal
  }

  get allowedHosts(): readonly string[] {
    return this.#frame.run.environment.allowedHosts
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
  ): MaybePromise<JsonValue | undefined> {
    return this.#frame.run.callFunction(name, parameters, this.#frame.depth + 1)
  }

  enqueue(call: LaterCall): MaybePromise<string | undefined> {
    return this.#frame.run.enqueue(call)
  }

  finish(value: JsonValue | undefined): void {
    if (this.#frame.finished) return
    this.#frame.finished = true
    this.#frame.result = value
  }
}
