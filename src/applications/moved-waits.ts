/** Runs that wait continue on a release that is live. Should the process end before, they can be moved by hand. */
import { moveWaits } from '../flows/background/move-waits.ts'
import type { Actor } from '../records/records.ts'
import type { ObjectChange } from '../shared/application/application-changes.ts'

/** That are named, of a call. */
const MOST_UNMOVED = 20

interface MovedToRelease {
  /** Those that stay, and why. */
  readonly problems: readonly string[]
  readonly movedWaits: number
}

/** `blueprints`: guids by the names of files. */
export async function movedToRelease(
  parts: Parameters<typeof moveWaits>[0],
  blueprints: Readonly<Record<string, string>>,
  changes: readonly ObjectChange[],
  by: Actor,
): Promise<MovedToRelease> {
  const problems: string[] = []
  let movedWaits = 0
  for (const { map, object, change } of changes) {
    const blueprint = blueprints[object]
    if (map !== 'blueprints' || change !== 'changed' || blueprint === undefined) continue
    let after: string | undefined
    do {
      const done = await moveWaits(parts, { blueprint, again: false, dryRun: false, after }, by)
      movedWaits += done.moved
      for (const { wait, title, reason } of done.unmoved.slice(0, MOST_UNMOVED))
        problems.push(`blueprints/${object}.json: the run that waits at ${title || wait} stays: ${reason}`)
      after = done.next
    } while (after !== undefined)
  }
  return { problems, movedWaits }
}
