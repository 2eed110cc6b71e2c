/** Changes of schedules in groups, each of which is one transaction. */
import { QuoinError } from '../shared/errors.ts'

/** Ticks or records in one transaction: all sessions share the writer. */
export const GROUP = 64

interface GroupWork<T> {
  /** One transaction. */
  readonly work: (group: readonly T[]) => Promise<void>
  /** Another node was faster: the record is to be read again. */
  readonly overtaken: (one: T) => void
  readonly failed: (one: T, error: unknown) => void
}

/**
 * Does the work in groups. Where a group is refused, each of it is tried alone, so that one keeps no other from its turn.
 * `weigh`: of how many records it is.
 */
export async function inGroups<T>(
  items: readonly T[],
  weigh: (item: T) => number,
  group: GroupWork<T>,
): Promise<void> {
  let gathered: T[] = []
  let weight = 0
  for (const item of items) {
    const more = weigh(item)
    if (weight + more > GROUP && gathered.length > 0) {
      await attempt(gathered, group)
      gathered = []
      weight = 0
    }
    gathered.push(item)
    weight += more
  }
  if (gathered.length > 0) await attempt(gathered, group)
}

async function attempt<T>(items: readonly T[], group: GroupWork<T>): Promise<void> {
  try {
    await group.work(items)
  } catch (error) {
    const [one, ...others] = items
    if (one === undefined) return
    if (others.length > 0) for (const item of items) await attempt([item], group)
    else if (error instanceof QuoinError && error.code === 'CONFLICT') group.overtaken(one)
    else group.failed(one, error)
  }
}
