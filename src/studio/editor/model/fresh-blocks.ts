import type { Checked, Problem } from '../../../shared/api/blueprints/blueprints.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { type Flow, inPinOf, isFilled } from './flow.ts'

/**
 * Blocks that were added here, and the fields of each that the user has left since. An empty field of such a block is not an
 * error before it was left, or before a deploy was asked for.
 */
export type FreshBlocks = ReadonlyMap<string, ReadonlySet<string>>

export interface ShownChecks extends Checked {
  /** What is still to be filled in. It keeps the blueprint from running as a problem does. */
  readonly needed: readonly Problem[]
}

const nothingNeeded: readonly Problem[] = []

/** `of`: the blocks as they were checked. A field that was empty then and is filled by now is no error until it is checked again. */
export function shownChecks(found: Checked, flow: Flow, fresh: FreshBlocks, of: Flow): ShownChecks {
  const isOutdated = ({ block, pin }: Problem) => {
    const [then, now] = [of.get(block), flow.get(block)]
    return pin !== undefined && then && now && then !== now && isEmpty(then, pin) && !isEmpty(now, pin)
  }
  const outdated = found.problems.filter(isOutdated)
  const checked =
    outdated.length === 0
      ? found
      : { ...found, problems: found.problems.filter((one) => !outdated.includes(one)) }
  const isNeeded = ({ block, pin }: Problem) => {
    const left = fresh.get(block)
    const content = flow.get(block)
    return left && content && pin !== undefined && !left.has(pin) && isEmpty(content, pin)
  }
  const needed = fresh.size === 0 ? nothingNeeded : checked.problems.filter(isNeeded)
  if (needed.length === 0) return { ...checked, needed: nothingNeeded }
  return { ...checked, problems: checked.problems.filter((one) => !needed.includes(one)), needed }
}

function isEmpty(content: BlockContent, field: string): boolean {
  return !isFilled(inPinOf(content, field)) && content.fields[field] === undefined
}

/** The user has left the field; the same map where that changes nothing. */
export function withLeftField(fresh: FreshBlocks, block: string, field: string): FreshBlocks {
  const left = fresh.get(block)
  return !left || left.has(field) ? fresh : new Map(fresh).set(block, new Set([...left, field]))
}

export type Level = 'error' | 'warn' | 'info' | 'needed'

/** Errors first, then what is needed, then notes. */
export function leveled({ problems, needed, notes }: ShownChecks): readonly (Problem & { level: Level })[] {
  const as = (list: readonly Problem[], level: Level) => list.map((one) => ({ ...one, level }))
  return [...as(problems, 'error'), ...as(needed, 'needed'), ...notes]
}

/** The same of one block. */
export function problemsOf({ problems, needed, notes }: ShownChecks, block: string) {
  const of = <T extends Problem>(list: readonly T[]) => list.filter((one) => one.block === block)
  return leveled({ problems: of(problems), needed: of(needed), notes: of(notes) })
}
