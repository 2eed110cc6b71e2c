/**
 * What one run did, step by step, as far as it is kept: values of 4 KiB, 192 KiB of values and 500 steps a run, and of one
 * block only its first executions, so that a map over 1,000 items leaves room for the blocks behind it.
 *
 * A step stands where its own work began, when its inputs were known: so the values that a block pulled come before it.
 */
import { PinError } from '../../blocks/block.ts'
import { HttpConnection } from '../../blocks/http-connection.ts'
import { Secret } from '../../blocks/secret.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/json.ts'
import { BlockFailure } from '../compile/block-failure.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { Frame } from '../compile/frame.ts'
import { Secrets, shownJson, showValue } from '../values/shown-value.ts'
import type { Evaluation } from './evaluated-expressions.ts'
import type { RecordedPasses } from './recorded-passes.ts'

export const VALUE_BYTES = 4_096
const RUN_BYTES = 192 * 1024
const MOST_STEPS = 500
const MOST_OF_ONE = { value: 25, flow: 100, trigger: 100 } as const
/** What blocks that touch the world outside gave is kept whole, so that the flow can run again without touching it. */
const OUTSIDE_BYTES = 64 * 1024
const MOST_OUTSIDE_BYTES = 128 * 1024
const LONGEST_MESSAGE = 1_000
/** Evaluations of one step: an expression may be evaluated for each element of a list. */
const MOST_EVALUATIONS = 20

export type StepKind = 'flow' | 'value' | 'trigger'
export type Pins = Readonly<Record<string, JsonValue>>
type PinValues = Readonly<Record<string, unknown>>

export interface TraceStep {
  readonly seq: number
  readonly block: string
  readonly type: string
  /** 0 = the flow; each call of a function has a number of its own. */
  readonly frame: number
  readonly kind: StepKind
  /** Microseconds since the run began. */
  readonly at_us: number
  us: number
  in: Pins
  out: Pins
  /** The expressions of its pins, each evaluation; absent without one. */
  expressions?: StepExpression[]
  next: string | null
  error: string | null
  /** What there is to say about it, such as why the run did not pause here. */
  note: string | null
}

/** One evaluation of an expression. */
type StepExpression = {
  readonly pin: string
  readonly text: string
  readonly value: JsonValue
  /** What it read, by name. */
  readonly names: Pins
  /** Of an evaluation that failed. */
  readonly error?: string
}

interface At {
  readonly block: string
  readonly type: string
  readonly kind: StepKind
}

/** One execution of a block that touches the world outside. */
export interface OutsideStep {
  readonly block: string
  /** By pin; null if it was too long to be kept. */
  readonly out: Pins | null
  readonly next: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** What each pass of its body was given; null if they were too many to be kept. Absent for a block without a body. */
  readonly passes?: readonly Pins[] | null
  /** The last pass failed. */
  readonly broke?: true
}

export class RunTrace {
  readonly secrets = new Secrets()
  /** How many blocks were executed, kept or not. */
  count = 0
  cut = false
  /** In the order in which they ended. */
  readonly outside: OutsideStep[] = []
  /** The last step that failed: the one to look at when the run did. */
  failed: TraceStep | undefined
  /** Later by the time for which the run was paused, and by what was spent on the trace. */
  #began: number
  #pausedAt: number | undefined
  readonly #recorded = new Set<TraceStep>()
  readonly #frames = new WeakMap<Frame, number>()
  #calls = 0
  readonly #executed = new Map<string, number>()
  /** The last step of each block, in its frame. */
  readonly #last = new WeakMap<Frame, Map<string, TraceStep>>()
  #bytes = 0
  #outsideBytes = 0

  /** `began`: as `performance.now()` counts. */
  constructor(began = performance.now()) {
    this.#began = began
  }

  /** Microseconds since the run began; those in which it was paused do not count. */
  get elapsed(): number {
    return Math.round(((this.#pausedAt ?? performance.now()) - this.#began) * 1000)
  }

  pause(): void {
    this.#pausedAt ??= performance.now()
  }

  goOn(): void {
    if (this.#pausedAt !== undefined) this.#began += performance.now() - this.#pausedAt
    this.#pausedAt = undefined
  }

  get steps(): readonly TraceStep[] {
    return [...this.#recorded]
  }

  /** A step that is not kept is returned too: the caller treats all steps alike. */
  begin(frame: Frame, at: At, inputs: PinValues): TraceStep {
    this.count += 1
    const times = (this.#executed.get(at.block) ?? 0) + 1
    this.#executed.set(at.block, times)
    const isRecorded = times <= MOST_OF_ONE[at.kind] && this.#recorded.size < MOST_STEPS
    const { block, type, kind } = at
    for (const value of Object.values(inputs))
      if (value instanceof Secret || value instanceof HttpConnection) this.#hide(value)
    const shown = isRecorded ? this.#pins(inputs) : {}
    const step: TraceStep = {
      ...{ seq: this.count, block: drawnBlock(block), type, kind },
      ...{ frame: this.#numberOf(frame), at_us: this.elapsed, us: 0 },
      ...{ in: shown, out: {}, next: null, error: null, note: null },
    }
    if (isRecorded) this.#recorded.add(step)
    else this.cut = true
    const last = this.#last.get(frame) ?? new Map<string, TraceStep>()
    this.#last.set(frame, last.set(block, step))
    return step
  }

  /** Its text is dots wherever it appears in the trace: another server may send back what it was sent. */
  #hide(secret: Secret | HttpConnection): void {
    const text = secret.hidden()
    if (text !== undefined) this.secrets.noteWhole(text)
  }

  /** The expressions of a step's pins. */
  evaluated(step: TraceStep, evaluations: readonly Evaluation[]): void {
    if (evaluations.length === 0 || !this.#recorded.has(step)) return
    step.expressions ??= []
    for (const { pin, text, value, names, thrown } of evaluations) {
      if (step.expressions.length >= MOST_EVALUATIONS || this.#bytes > RUN_BYTES) {
        this.cut = true
        return
      }
      // The names first: what is secret among them is dots in the value too.
      const read = this.#pins(Object.fromEntries([...names].map(([name, one]) => [name, one ?? null])))
      const shown = this.#pins({ [pin]: value })
      const error = thrown === undefined ? {} : { error: this.#messageOf(thrown) }
      step.expressions.push({ pin, text: this.#text(text), value: shown[pin] ?? null, names: read, ...error })
    }
  }

  /** The same, for a pin that is read while its block is at work. */
  evaluatedLater(frame: Frame, block: string, evaluation: Evaluation): void {
    const step = this.#last.get(frame)?.get(block)
    if (step) this.evaluated(step, [evaluation])
  }

  gave(step: TraceStep, input: PinValues, next: string | null): void {
    step.us = this.elapsed - step.at_us
    step.next = next
    if (this.#recorded.has(step)) step.out = this.#pins(input)
  }

  /** After `gave` or `fail` of a block that touches the world outside. */
  keepOutside(
    { block, next, error: message }: TraceStep,
    input: PinValues,
    thrown?: unknown,
    passes?: RecordedPasses,
  ): void {
    const { text, bytes, whole } = showValue(gaveBy(thrown) ?? input, this.secrets, OUTSIDE_BYTES)
    const code = thrown instanceof QuoinError ? thrown.code : 'INTERNAL'
    const error = message === null ? null : { code, message }
    const all = bytes + (passes?.bytes ?? 0)
    const fits = whole && this.#outsideBytes + all <= MOST_OUTSIDE_BYTES
    if (fits) this.#outsideBytes += all
    if (this.outside.length < MOST_STEPS)
      this.outside.push({
        ...{ block, next, error, out: fits ? JSON.parse(text) : null },
        ...(passes && { passes: fits ? passes.recorded : null }),
        ...(passes?.broke && { broke: true }),
      })
  }

  fail(step: TraceStep, error: unknown, next: string | null): void {
    step.us = this.elapsed - step.at_us
    step.next = next
    const gave = gaveBy(error)
    // Before the message: what is secret in it is dots there too.
    if (gave && this.#recorded.has(step)) step.out = this.#pins(gave)
    step.error = this.#messageOf(error)
    this.failed = step
  }

  #messageOf(error: unknown): string {
    return this.secrets.hide(messageOf(error)).slice(0, LONGEST_MESSAGE).toWellFormed()
  }

  #text(text: string): string {
    const shown = this.secrets.hide(text).slice(0, LONGEST_MESSAGE).toWellFormed()
    this.#bytes += shown.length
    return shown
  }

  #numberOf(frame: Frame): number {
    const known = this.#frames.get(frame)
    if (known !== undefined) return known
    const number = this.#calls++
    this.#frames.set(frame, number)
    return number
  }

  #pins(values: PinValues): Pins {
    const began = performance.now()
    const pins: Record<string, JsonValue> = {}
    for (const [pin, value] of Object.entries(values)) {
      if (value === undefined) continue
      if (this.#bytes > RUN_BYTES) {
        this.cut = true
        break
      }
      // `body.pin` is as secret as a field `pin`.
      const shown = showValue(value, this.secrets, VALUE_BYTES, pin.slice(pin.lastIndexOf('.') + 1))
      this.#bytes += Math.min(shown.bytes, VALUE_BYTES)
      pins[pin] = shownJson(shown)
    }
    this.#began += performance.now() - began
    return pins
  }
}

/** What a block that failed had in hand, such as the reply of another server. */
function gaveBy(error: unknown): PinValues | undefined {
  const cause = error instanceof BlockFailure ? error.cause : error
  return cause instanceof QuoinError ? cause.gave : undefined
}

function messageOf(error: unknown): string {
  // The message of an expression names its pin itself.
  const isNamed = (pin: string, { message }: Error) => message.startsWith(`${pin}: `)
  if (error instanceof PinError && !isNamed(error.pin, error)) return `${error.pin} ${error.message}`
  if (error instanceof BlockFailure && error.pin !== undefined && !isNamed(error.pin, error))
    return `${error.pin} ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
