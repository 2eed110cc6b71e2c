/** What happens to simulated nodes: work that comes in, and faults. */
import type { Schedule } from '../../../src/flows/background/schedules.ts'
import type { JsonObject } from '../../../src/shared/json.ts'
import type { NewJob } from '../../../src/storage/job.ts'
import type { RandomSource } from '../random-source.ts'
import { type NodesWorld, type SimulatedNode, startNode } from './simulated-node.ts'
import { newOwner } from './virtual-time.ts'

export function someSchedules(dice: RandomSource, now: number): Schedule[] {
  return Array.from({ length: dice.between(0, 3) }, (_, number) => ({
    id: `blueprint s${number}`,
    blueprint: 'blueprint',
    block: `s${number}`,
    title: `Schedule ${number}`,
    every: `${dice.between(1, 9)}s`,
    ...(dice.chance(0.5) && { startAt: now - dice.between(0, 20) * 1000 }),
    timeZone: 'UTC',
    overlap: dice.oneOf(['skip', 'queue', 'allow'] as const),
    catchUp: dice.oneOf(['all', 'last', 'none'] as const),
  }))
}

export interface Enqueued {
  readonly acknowledged: ReadonlySet<string>
  readonly undone: ReadonlySet<string>
}

/** Jobs from requests, which come while `ms` pass. Some transactions are rolled back. */
export function enqueueSome({ time, dice, database }: NodesWorld, ms: number): Enqueued {
  const acknowledged = new Set<string>()
  const undone = new Set<string>()
  const client = newOwner()
  const one = async () => {
    await time.wait(client, dice.between(0, ms))
    const session = database.session()
    const made = [await session.enqueue(someJob(dice, time.now))]
    if (dice.chance(0.3)) {
      await time.wait(client, dice.between(1, 50))
      made.push(await session.enqueue(someJob(dice, time.now)))
    }
    const kept = dice.chance(0.85)
    await (kept ? session.transaction.commit() : session.transaction.rollback())
    for (const guid of made) if (guid !== undefined) (kept ? acknowledged : undone).add(guid)
  }
  for (let jobs = dice.between(6, 16); jobs > 0; jobs--) void one()
  return { acknowledged, undone }
}

function someJob(dice: RandomSource, now: number): NewJob {
  return {
    queue: dice.oneOf(['a', 'b', 'narrow']),
    kind: 'function',
    title: 'a job',
    payload: someTask(dice),
    attempts: dice.between(1, 4),
    ...(dice.chance(0.3) && { priority: dice.between(-2, 2) }),
    ...(dice.chance(0.2) && { runAt: now + dice.between(0, 5_000) }),
    ...(dice.chance(0.3) && { orderKey: dice.oneOf(['x', 'y']) }),
    ...(dice.chance(0.2) && { dedupeKey: dice.oneOf(['p', 'q']) }),
  }
}

/** How long it takes, how many of its attempts fail, and whether it goes on although it is told to stop. */
function someTask(dice: RandomSource): JsonObject {
  const takes = dice.oneOf([
    0,
    dice.between(0, 300),
    dice.between(500, 3_500),
    dice.between(500, 3_500),
    10_000,
  ])
  return { takes, fails: dice.oneOf([0, 0, 1, 2]), deaf: dice.chance(0.2) }
}

/** One fault after the other, until then. */
export function harm(world: NodesWorld, until: number): void {
  const { time, dice, note } = world
  const nature = newOwner()
  const next = () => void time.at(nature, time.now + dice.between(200, 3_000), strike)
  const strike = () => {
    if (time.now >= until) return
    next()
    const fault = dice.oneOf(['kill', 'freeze', 'freeze', 'cut', 'drain', 'start'] as const)
    note(fault)
    if (fault === 'start') {
      if (world.nodes.size < 4) startNode(world)
      return
    }
    if (world.nodes.size === 0) return
    hurt(world, dice.oneOf([...world.nodes.values()]), fault)
  }
  if (dice.chance(0.9)) next()
}

function hurt(
  { time, dice }: NodesWorld,
  node: SimulatedNode,
  fault: 'kill' | 'freeze' | 'cut' | 'drain',
): void {
  if (fault === 'kill') node.kill()
  else if (fault === 'freeze') node.owner.frozenUntil = time.now + dice.between(1_000, 8_000)
  else if (fault === 'cut') node.wire.cutUntil = time.now + dice.between(100, 8_000)
  else void node.drain()
}

/** Nothing is wrong any more, and there is a node. */
export function heal(world: NodesWorld): void {
  for (const node of world.nodes.values()) {
    node.wire.cutUntil = 0
    node.owner.frozenUntil = 0
  }
  startNode(world)
}
