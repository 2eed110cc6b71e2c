/** 200 blueprints are made and deployed one after the other while requests run. */
import { startQuoin } from '../candidates.ts'
import { runLoad } from '../load.ts'
import { installBlueprint } from '../management-api.ts'
import { ask, runCooperatively } from '../requests.ts'
import { CONNECTIONS } from '../rows.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { smallBlueprint, smallUri } from './many-blocks.ts'

const BLUEPRINTS = 200
const MOST_MS = 50

export const manyDeploys: Goal = {
  id: 'deploys',
  title: `${BLUEPRINTS} blueprints made and deployed one after the other while requests run`,
  goal: `no request fails, 99 of 100 within ${MOST_MS} ms`,
  measure,
}

async function measure({ core }: GoalTiming): Promise<Reached> {
  const candidate = await startQuoin({ core })
  try {
    const { base, port } = candidate
    const turn = runCooperatively(
      ['bench/constant', 'tasks?status=open', 'tasks'].map((path) => ask({ path })),
    )
    let done = false
    const load = runLoad({ port, connections: CONNECTIONS, next: () => (done ? undefined : turn()) })
    const began = performance.now()
    try {
      for (let number = 0; number < BLUEPRINTS; number++)
        await installBlueprint(candidate, smallBlueprint(number))
    } finally {
      done = true
    }
    const each = (performance.now() - began) / BLUEPRINTS
    const { errors, firstError, latencies } = await load
    if (errors > 0) throw new Error(`${errors} requests failed while blueprints were deployed: ${firstError}`)
    const last = await fetch(`${base}/api/v1/${smallUri(BLUEPRINTS - 1)}`)
    if (last.status !== 200) throw new Error(`The last blueprint answers ${last.status}.`)
    const p99 = latencies.within(0.99)
    const found = `0 of ${latencies.total.toLocaleString('en-US')} requests failed, 99 of 100 within ${milliseconds(p99)}, the slowest ${milliseconds(latencies.within(1))}; a blueprint took ${milliseconds(each)}`
    return { found, met: p99 < MOST_MS }
  } finally {
    await candidate.close()
  }
}
