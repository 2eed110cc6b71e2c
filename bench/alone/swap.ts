/**
 * A blueprint with 500 blocks is deployed again and again while requests run. For how long compiling and swapping let nothing else
 * run, which is between two turns of the event loop, is measured in this process with the server's own functions, in processor
 * time; how long the whole deploy takes and whether requests notice, on a server.
 */

import { loadBlocks } from '../../src/blocks/load-blocks.ts'
import { importBlueprint } from '../../src/flows/blueprints/blueprint-file.ts'
import { compileCooperatively } from '../../src/flows/compile/compile-blueprint.ts'
import { liveBlueprints } from '../../src/flows/live/live-blueprints.ts'
import { endpointTable } from '../../src/http/endpoints/endpoint-table.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { guardTurns, LONGEST_TURN_MS } from '../../test/turn-guard.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { runLoad } from '../load.ts'
import { deploy, installBlueprint, stage } from '../management-api.ts'
import { ask, runCooperatively } from '../requests.ts'
import { CONNECTIONS } from '../rows.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { largeBlueprint } from './many-blocks.ts'

const BLOCKS = 500
const COMPILES = 20

export const swap: Goal = {
  id: 'swap',
  title: `blueprint with ${BLOCKS} blocks: compile and swap while requests run`,
  goal: `no turn over ${LONGEST_TURN_MS} ms, no request fails`,
  measure,
}

async function measure({ core, rounds }: GoalTiming): Promise<Reached> {
  const file = await largeBlueprint(BLOCKS)
  const compiling = await compileAndSwap(file)
  const candidate = await startQuoin({ core })
  try {
    const { deploys, latencies } = await deployUnderLoad(candidate, file, Math.max(5, rounds))
    const [first, ...others] = compiling
    const longest = Math.max(...others.map(({ turn }) => turn))
    const all = median(others.map(({ all: taken }) => taken))
    const found = `longest turn ${milliseconds(longest)} of ${milliseconds(all)} (the first time ${milliseconds(first?.turn ?? Number.NaN)} of ${milliseconds(first?.all ?? Number.NaN)}); the whole deploy ${milliseconds(median(deploys))}, 0 of ${latencies.total.toLocaleString('en-US')} requests failed, 99 of 100 within ${milliseconds(latencies.within(0.99))}, the slowest ${milliseconds(latencies.within(1))}`
    return { found, met: compiling.every(({ turn }) => turn <= LONGEST_TURN_MS) }
  } finally {
    await candidate.close()
  }
}

/** In milliseconds, each time: the longest turn, of the processor's, and from beginning to end. */
async function compileAndSwap(file: JsonObject): Promise<{ readonly turn: number; readonly all: number }[]> {
  const catalogue = await loadBlocks()
  let count = 0
  const { blocks } = importBlueprint(file, () => `block-${count++}`)
  if (blocks.length !== BLOCKS)
    throw new Error(`The blueprint has ${blocks.length} blocks and not ${BLOCKS}.`)
  const input = blocks.map((block) => ({ ...block, blueprint_guid: 'swapped' }))
  const live = liveBlueprints(new Set())
  live.watch((table) => endpointTable(table))
  const times: { turn: number; all: number }[] = []
  const guard = guardTurns()
  for (let time = 0; time < COMPILES; time++) {
    await guard.longest()
    const began = performance.now()
    const { blueprint, problems } = await compileCooperatively('swapped', input, catalogue)
    if (!blueprint) throw new Error(`The blueprint does not compile: ${JSON.stringify(problems[0])}`)
    live.checkClaims(blueprint)
    live.set('swapped', { compiled: blueprint, name: 'swapped', deployment: time })
    const all = performance.now() - began
    times.push({ turn: await guard.longest(), all })
  }
  guard.stop()
  return times
}

/** Each deploy changes what an endpoint replies, and that is asked for as soon as the deploy has answered. */
async function deployUnderLoad(candidate: Candidate, file: JsonObject, times: number) {
  const { base, port, token } = candidate
  const api = { base, token }
  const { blueprint, blocks } = await installBlueprint(api, file)
  const block = blocks.get('version') ?? ''
  const paths = ['bench/constant', 'bench/version', 'bench/copy-0/tasks', 'bench/copy-8/tasks?status=open']
  const turn = runCooperatively(paths.map((path) => ask({ path })))
  let done = false
  const load = runLoad({ port, connections: CONNECTIONS, next: () => (done ? undefined : turn()) })
  const deploys: number[] = []
  try {
    for (let version = 1; version <= times; version++) {
      await stage(api, block, { value: version })
      const began = performance.now()
      await deploy(api, blueprint)
      deploys.push(performance.now() - began)
      const reply = await (await fetch(`${base}/api/v1/bench/version`)).text()
      if (reply !== String(version)) throw new Error(`After deploying ${version}, ${reply} is served.`)
    }
  } finally {
    done = true
  }
  const { errors, firstError, latencies } = await load
  if (errors > 0) throw new Error(`${errors} requests failed while a blueprint was deployed: ${firstError}`)
  return { deploys, latencies }
}
