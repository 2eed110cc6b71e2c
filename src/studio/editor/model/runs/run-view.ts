/**
 * A run as it is drawn: what each block did and which wires carried something. At a step it is as far as the run had come
 * when that step was over, so that going through the steps is watching it run.
 */
import type { Run, Step } from '../../../../shared/api/blueprints/runs.ts'
import { linksOf } from '../../expressions/references.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, wireId } from '../flow.ts'
import { pinsOf } from '../pins/pins.ts'

export interface BlockTrace {
  /** `fixed`: its value never changes, so it was worked out when the blueprint was deployed. */
  readonly state: 'idle' | 'fixed' | 'ran' | 'failed' | 'paused'
  /** Place of its first step in the run, from 1; 0 if it did not run. */
  readonly order: number
  readonly times: number
  /** Microseconds of all its steps together. */
  readonly us: number
  /** Why it failed, or what else there is to say. */
  readonly message: string
  /** It is the step that is being looked at. */
  readonly current: boolean
  /** The last of its steps, with its values. */
  readonly step: Step | undefined
}

export interface RunView {
  /** Every block of the flow has one. */
  readonly blocks: ReadonlyMap<string, BlockTrace>
  /** How often each wire carried something; those that did not are not in it. */
  readonly wires: ReadonlyMap<string, number>
}

const idle: BlockTrace = {
  state: 'idle',
  order: 0,
  times: 0,
  us: 0,
  message: '',
  current: false,
  step: undefined,
}

/** `at`: place of a step in the run, from 0; undefined: the whole run. */
export function runView(
  run: Pick<Run, 'steps' | 'status'>,
  at: number | undefined,
  flow: Flow,
  catalogue: Catalogue,
): RunView {
  const shown = at === undefined ? run.steps : run.steps.slice(0, at + 1)
  const current = at === undefined ? undefined : run.steps[at]
  const standing = run.status === 'paused' ? run.steps.at(-1) : undefined
  const order = new Map(run.steps.map((step, index) => [step, index + 1]))
  const byBlock = Map.groupBy(shown, ({ block }) => block)
  const blocks = new Map<string, BlockTrace>()
  const wires = carriedBy(byBlock, flow, catalogue)
  const fixed = fixedBlocks(byBlock, wires, flow, catalogue)
  for (const guid of flow.keys()) {
    const steps = byBlock.get(guid)
    blocks.set(guid, steps ? traceOf(steps) : fixed.has(guid) ? { ...idle, state: 'fixed' } : idle)
  }
  return { blocks, wires }

  function traceOf(steps: readonly Step[]): BlockTrace {
    const [first] = steps
    const last = steps.at(-1)
    const message = last?.error ?? last?.note ?? ''
    return {
      state: last && last === standing ? 'paused' : last?.error != null ? 'failed' : 'ran',
      order: (first && order.get(first)) ?? 0,
      times: steps.length,
      us: steps.reduce((sum, step) => sum + step.us, 0),
      message,
      current: last !== undefined && last === current,
      step: last,
    }
  }
}

/**
 * A wire between flow pins carried something when its block went on there; one between values when the block behind it got
 * something at that pin.
 */
function carriedBy(
  byBlock: ReadonlyMap<string, readonly Step[]>,
  flow: Flow,
  catalogue: Catalogue,
): Map<string, number> {
  const carried = new Map<string, number>()
  for (const wire of linksOf(flow)) {
    const { from, to } = wire
    const target = flow.get(to.block)
    const behind = byBlock.get(to.block)
    if (!target || !behind) continue
    const isFlow = pinsOf(target, catalogue).in.get(to.pin)?.type === 'flow'
    const times = isFlow
      ? (byBlock.get(from.block) ?? []).filter(({ next }) => next === from.pin).length
      : behind.filter((step) => step.in[to.pin] !== undefined).length
    if (times > 0) carried.set(wireId(wire), times)
  }
  return carried
}

/**
 * Blocks without a step whose value was used all the same, and what those were made of. The wires between them are added to
 * those that carried something.
 */
function fixedBlocks(
  byBlock: ReadonlyMap<string, readonly Step[]>,
  wires: Map<string, number>,
  flow: Flow,
  catalogue: Catalogue,
): Set<string> {
  const fixed = new Set<string>()
  const isValue = (guid: string) => catalogue.get(flow.get(guid)?.type ?? '')?.kind === 'value'
  const all = linksOf(flow).filter(({ from }) => isValue(from.block) && !byBlock.has(from.block))
  let before = -1
  while (fixed.size > before) {
    before = fixed.size
    for (const wire of all) {
      if (!wires.has(wireId(wire)) && !fixed.has(wire.to.block)) continue
      fixed.add(wire.from.block)
      wires.set(wireId(wire), wires.get(wireId(wire)) ?? 1)
    }
  }
  return fixed
}

export function sameTrace(a: BlockTrace | undefined, b: BlockTrace | undefined): boolean {
  if (a === b) return true
  return (
    a !== undefined &&
    b !== undefined &&
    a.state === b.state &&
    a.order === b.order &&
    a.times === b.times &&
    a.us === b.us &&
    a.message === b.message &&
    a.current === b.current &&
    a.step === b.step
  )
}
