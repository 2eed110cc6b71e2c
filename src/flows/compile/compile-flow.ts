import { actsAsUser } from '../../blocks/as-user.ts'
import type { FlowBlock } from '../../blocks/block.ts'
import type { Wait } from '../../blocks/context.ts'
import { sendsMail, storesJob } from '../../blocks/effects.ts'
import { runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { reading, UnparsedText } from '../../storage/stored-json.ts'
import { BlockContext } from './block-context.ts'
import { BlockFailure } from './block-failure.ts'
import type { Node } from './blueprint-graph.ts'
import { bodyRunner, callFailure, joinArrivals } from './body-runner.ts'
import { failureOf, type Inputs as PinReader, type ValueCompiler, valueCompiler } from './compile-values.ts'
import type { Facts } from './constants/fold-constants.ts'
import type { BlockEffect, CompiledFlow, Frame, ResumePoint, Step, UnhandledOutcome } from './frame.ts'
import type { BlockCount, BlockCounts } from './graph-wiring.ts'
import { inputMeasure } from './value-size.ts'
import { resumePoint } from './waiting/resume-point.ts'
import { loneBlocks } from './waiting/wait-problems.ts'

/**
 * Turns a trigger and what is behind it into steps, one block at a time. Flow blocks are compiled once each, also when several
 * wires or a circle lead to them; a flow out-pin with several wires starts a branch for each, in the blueprint's order.
 */
export function* compileFlow(trigger: Node, facts: Facts, counts: BlockCounts): Steps<CompiledFlow> {
  const { values, behind, resumePoints } = flowCompiler(facts, counts)
  const first = yield* behind(trigger, 'flow')
  const store = values.storeOf(trigger)
  const accept = facts.probe?.event(trigger, store) ?? store
  const slots = { slots: values.slots(), slotPins: values.slotPins() }
  return { trigger: trigger.block.guid, ...slots, accept, first, ...resumePoints() }
}

/** The steps that continue behind a block, by flow out-pin. */
type Ways = Map<string, Step | undefined>

interface FlowCompiler {
  readonly values: ValueCompiler
  /** One step for all that follows a flow out-pin. */
  behind(node: Node, pin: string): Steps<Step | undefined>
  /** When all is compiled. */
  resumePoints(): Pick<CompiledFlow, 'resumePoints'>
}

interface FlowStep {
  readonly step: Step
  /** Of a block that waits or touches the world outside. */
  readonly point: ResumePoint | undefined
}

interface OutsideStep extends FlowStep {
  /** Whether a run that has waited begins again here. */
  begins?: boolean
}

/** Compiles what shares one frame. */
export function flowCompiler(facts: Facts, counts: BlockCounts): FlowCompiler {
  const values = valueCompiler(facts, counts)
  const steps = new Map<Node, Step>()
  const outside = new Map<Node, OutsideStep>()
  const waits = new Map<Node, ResumePoint>()
  const arrivals = joinArrivals()

  function compileNode(node: Node): Ways {
    const { definition } = node
    if (definition.kind !== 'flow')
      throw new TypeError(`${node.block.type} has a flow in-pin and is not a flow block.`)
    const block = facts.probe?.flow(node, definition) ?? definition
    const ways: Ways = new Map()
    const compiled = flowStep(node, block, facts, values, counts.of(definition), ways)
    steps.set(node, compiled.step)
    if (definition.waits && compiled.point) waits.set(node, compiled.point)
    if (definition.effects?.calls) outside.set(node, compiled)
    return ways
  }

  function stepBehind(node: Node, pin: string): Step | undefined {
    return follow(
      facts.arriving(node, pin).flatMap(({ node: next, pin: into }) => {
        const step = steps.get(next)
        if (!step) return []
        return [next.definition.kind === 'flow' && next.definition.joins ? arrivals(next, into, step) : step]
      }),
    )
  }

  /** First each block and then what follows each, so that a long flow needs no deep stack. */
  function* behind(node: Node, pin: string): Steps<Step | undefined> {
    const compiled: [Node, Ways][] = []
    const queue = [...facts.behind(node, pin)]
    for (let next = queue.pop(); next; next = queue.pop()) {
      if (steps.has(next)) continue
      yield
      compiled.push([next, compileNode(next)])
      for (const way of flowPins(next)) queue.push(...facts.behind(next, way))
    }
    for (const [one, ways] of compiled) {
      yield
      for (const way of flowPins(one)) ways.set(way, stepBehind(one, way))
    }
    return stepBehind(node, pin)
  }

  return { values, behind, resumePoints: () => resumePointsOf(waits, outside, facts) }
}

/** A run that has waited can also begin again at blocks that touch the world outside. */
function resumePointsOf(
  waits: ReadonlyMap<Node, ResumePoint>,
  outside: ReadonlyMap<Node, OutsideStep>,
  facts: Facts,
): Pick<CompiledFlow, 'resumePoints'> {
  if (waits.size === 0) return {}
  const points = new Map([...waits].map(([{ block }, point]) => [block.guid, point]))
  for (const node of loneBlocks([...waits.keys()], facts)) {
    const compiled = outside.get(node)
    if (!compiled?.point || waits.has(node)) continue
    compiled.begins = true
    points.set(node.block.guid, compiled.point)
  }
  return { resumePoints: points }
}

function flowPins(node: Node): readonly string[] {
  return [...node.out].flatMap(([pin, out]) => (out.type === 'flow' ? [pin] : []))
}

/** A flow that only pulls one pin of the trigger, a text or a date. Its result is the text, the date as text, or empty. */
export function compileTriggerPin(
  trigger: Node,
  pin: string,
  facts: Facts,
  counts: BlockCounts,
): CompiledFlow {
  const values = valueCompiler(facts, counts)
  const { gather } = values.inputsOf(trigger)
  const first: Step = (frame) => {
    try {
      const value = gather(frame)[pin]
      if (value instanceof Date) frame.result = value.toISOString()
      else if (typeof value === 'string') frame.result = value
      return undefined
    } catch (error) {
      throw failureOf(trigger, error, facts)
    }
  }
  return { trigger: trigger.block.guid, slots: values.slots(), accept: values.storeOf(trigger), first }
}

/** One step for all blocks behind a flow out-pin; undefined if there is none. */
function follow(steps: readonly Step[]): Step | undefined {
  if (steps.length < 2) return steps[0]
  return (frame) => {
    const waiting: Promise<void>[] = []
    try {
      for (const step of steps) {
        const branch = frame.run.steps.drive(step, frame)
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

type Inputs = Readonly<Record<string, unknown>>
type BlockResult = Inputs | undefined

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function secondsIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Ways that a flow may leave unwired: a request that ends there without a reply has an error. */
function isMiss(pin: string): pin is UnhandledOutcome {
  return pin === 'not_found' || pin === 'conflict' || pin === 'refused' || pin === 'exceeded'
}

/** Blocks that touch the world outside, of those that change something there. */
export const outsideKinds: Readonly<Record<string, BlockEffect['kind']>> = {
  http_request: 'call',
  each_page: 'call',
  ask_model: 'call',
  embed: 'call',
  call_tool: 'call',
  call_operation: 'call',
  download_file: 'call',
  run_code_with_calls: 'call',
  write_file: 'file',
  write_rows: 'file',
  convert_image: 'file',
  delete_file: 'file',
  create_user: 'user',
  set_groups: 'user',
}

/** Undefined for a block that only looks, also outside. */
function effectOf({ block }: Node, definition: FlowBlock): BlockEffect | undefined {
  const { identifier, waits, effects = {} } = definition
  const kind = sendsMail(effects)
    ? 'mail'
    : waits
      ? 'wait'
      : storesJob(effects)
        ? 'job'
        : effects.sends && outsideKinds[identifier] === undefined
          ? 'message'
          : effects.writes
            ? 'write'
            : outsideKinds[identifier]
  return kind && { block: block.guid, title: block.title || definition.title, kind }
}

/** Throws UnparsedText for a long text, which is to be parsed in turns first. */
function readPins({ gather, more }: PinReader, frame: Frame) {
  reading.canWait = true
  try {
    return { inputs: gather(frame), added: more(frame) }
  } finally {
    reading.canWait = false
  }
}

/** Has the run wait behind the block. */
function waiter(node: Node, point: () => ResumePoint | undefined) {
  return (frame: Frame, wait: Wait) => {
    const behind = point()
    if (!behind) throw new TypeError(`${node.block.type} is not a block that waits.`)
    return frame.run.wait(behind, frame, wait)
  }
}

type Ended = ReturnType<Step>

interface BlockEnds {
  done(frame: Frame, input: BlockResult, inputs?: Inputs): Ended
  failed(frame: Frame, error: unknown, inputs?: Inputs): Step | undefined
}

/** What follows when the block has run, or has failed. */
function blockEnds(node: Node, facts: Facts, values: ValueCompiler, next: Ways): BlockEnds {
  const store = values.storeOf(node)
  const catches = facts.wired(node)('error')
  const measure = inputMeasure(node)

  function failed(frame: Frame, error: unknown, inputs?: Inputs): Step | undefined {
    const failure = failureOf(node, error, facts)
    if (!(failure instanceof BlockFailure)) throw failure
    if (!catches) throw failure.block === node.block.guid ? failure.at({ inputs }) : failure
    store(frame, { error: failure.toPin() })
    return next.get('error')
  }

  function done(frame: Frame, input: BlockResult, inputs?: Inputs): Ended {
    try {
      if (measure && input) frame.run.steps.chargeSize(measure(input))
    } catch (error) {
      return failed(frame, error, inputs)
    }
    store(frame, input ?? {})
    const pin = input?.next === undefined ? 'flow' : input.next
    const following = typeof pin === 'string' ? next.get(pin) : undefined
    if (following === undefined && typeof pin === 'string' && isMiss(pin))
      frame.run.missed(pin, textsIn(input?.taken), secondsIn(input?.retry_after))
    // Nothing behind a reply may run before the reply's writes are durable: it would share their transaction.
    const settling = following && frame.run.settle()
    return settling ? settling.then(() => following) : following
  }
  return { done, failed }
}

interface BlockParts {
  readonly facts: Facts
  readonly values: ValueCompiler
  readonly pins: PinReader
  readonly next: Ways
  readonly ends: BlockEnds
  readonly point: () => ResumePoint | undefined
}

/** Reads the pins of the block and runs it. */
function blockRun(node: Node, definition: FlowBlock, parts: BlockParts): Step {
  const { facts, values, pins, next, point } = parts
  const { done, failed } = parts.ends
  const effect = effectOf(node, definition)
  const nested = {
    ...{ wired: facts.wired(node), asUser: actsAsUser(node.settings), callFailed: callFailure(node, facts) },
    ...{ runBody: bodyRunner(values.storeOf(node), next), wait: waiter(node, point) },
  }

  function readAndRun(frame: Frame): Ended {
    let input: MaybePromise<BlockResult>
    let inputs: Inputs | undefined
    try {
      const read = readPins(pins, frame)
      inputs = read.inputs
      input = definition.run(inputs, new BlockContext(node, frame, read.added, nested))
    } catch (error) {
      if (error instanceof UnparsedText)
        return runCooperatively(error.stored.inSteps()).then(() => readAndRun(frame))
      return failed(frame, error, inputs)
    }
    if (!isPromise(input)) return done(frame, input, inputs)
    return input.then(
      (later) => done(frame, later, inputs),
      (error) => failed(frame, error, inputs),
    )
  }

  return (frame) => {
    if (effect) frame.run.happens(effect)
    return readAndRun(frame)
  }
}

function flowStep(
  node: Node,
  definition: FlowBlock,
  facts: Facts,
  values: ValueCompiler,
  executed: BlockCount,
  next: Ways,
): FlowStep {
  const calls = definition.effects?.calls
  // Slots are numbered in this order: the pins that the block reads first.
  const pins = values.inputsOf(node)
  const ends = blockEnds(node, facts, values, next)
  const run = blockRun(node, definition, { facts, values, pins, next, ends, point: () => point })

  function inside(frame: Frame): Ended {
    frame.run.steps.checkpoint()
    executed.count += 1
    return run(frame)
  }

  function outside(frame: Frame): Ended {
    frame.run.steps.checkpoint()
    executed.count += 1
    const { session, begun } = frame.run
    if (calls === 'detached' && !begun && !session.transaction.hasWritten && !compiled.begins)
      return run(frame)
    const recorded = compiled.begins && point ? frame.run.reached(point, frame) : undefined
    const committed = recorded ? recorded.then(() => frame.run.commit()) : frame.run.commit()
    return isPromise(committed) ? committed.then(() => run(frame)) : run(frame)
  }

  const step = calls ? outside : inside
  const isPoint = calls !== undefined || definition.waits
  const point = isPoint
    ? resumePoint({ node, facts, slotOf: values.slotOf, behind: ends.done, itself: step })
    : undefined
  const compiled: OutsideStep = { step, point }
  return compiled
}
