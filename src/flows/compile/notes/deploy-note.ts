import type { Problem } from '../../../shared/errors.ts'

/**
 * What is said of blocks that can run; keeps nothing from being deployed, but for what is `refused`: with the fields of now each run
 * of the block fails. Blocks that are active stay so. `unless deployed before`: a roll-back to a version that has it is not refused.
 */
export type DeployNote = Problem & {
  readonly level: 'warn' | 'info'
  readonly refused?: true | 'unless deployed before'
  /** Of what is said once in a blueprint, however many blocks it is true of. Not in what a deploy says. */
  readonly once?: string
}

/** The same, of blocks that were deployed before. */
export function ofDeployed(notes: readonly DeployNote[]): readonly DeployNote[] {
  return notes.map(({ refused, ...note }) => (refused === true ? { ...note, refused } : note))
}

/** A note that keeps blocks from being deployed. */
export function asProblem({ level: _, refused: _always, once: _once, ...problem }: DeployNote): Problem {
  return problem
}

/** Of one kind: a builder does not read more, and each is a line of the system log. */
const MOST = 50

/** At most 50 warnings of one kind; the last one says how many more there are. */
export function bounded(notes: readonly DeployNote[], kind: string): readonly DeployNote[] {
  if (notes.length <= MOST) return notes
  const message = `${notes.length - MOST} more warnings of this kind: ${kind}.`
  return [...notes.slice(0, MOST), { block: '', message, level: 'warn' }]
}

/**
 * Warnings of the parts of a blueprint, by what found them, in the order of its blocks. Undefined where there may be more of one kind
 * than are listed.
 */
export function notesTogether(
  parts: readonly (readonly (readonly DeployNote[])[])[],
  order: ReadonlyMap<string, number>,
): readonly DeployNote[] | undefined {
  const all = parts.flat(2)
  if (all.length > MOST || all.some(({ block }) => block === '')) return undefined
  const kinds = parts[0] ?? []
  return kinds.flatMap((_notes, kind) => {
    const notes = parts
      .flatMap((part) => part[kind] ?? [])
      .sort((a, b) => (order.get(a.block) ?? 0) - (order.get(b.block) ?? 0))
    const first = new Map<string, DeployNote>()
    for (const note of notes) {
      const key = note.once ?? JSON.stringify(note)
      if (!first.has(key)) first.set(key, note)
    }
    return [...first.values()]
  })
}
