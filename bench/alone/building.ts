/** Building a blueprint by API: a further block among 1,000, 500 one by one, and the deploy of one change on one node and on three. */
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { type Candidate, startQuoin } from '../candidates.ts'
import { cpuMicroseconds } from '../cpu-time.ts'
import { call, deploy, guidIn, installBlueprint, stage } from '../management-api.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { largeBlueprint } from './many-blocks.ts'

const BLOCKS = 1_000
const FIRST = 500
const MOST_ADD_MS = 3
const MOST_BUILD_MS = 3_000
const MOST_DEPLOY_MS = 60
const NODES = 3
const MOST_SERVED_MS = 250

export const building: readonly Goal[] = [
  {
    id: 'building',
    title: `a blueprint of ${BLOCKS.toLocaleString('en-US')} blocks made one by one`,
    goal: `the last ones ≤ ${MOST_ADD_MS} ms of processor time each, the first ${FIRST} in ${MOST_BUILD_MS / 1000} s`,
    measure: measureBuilding,
  },
  {
    id: 'deploy-change',
    title: `deploy of one changed literal in a blueprint of ${FIRST} blocks`,
    goal: `≤ ${MOST_DEPLOY_MS} ms of processor time`,
    measure: measureDeploy,
  },
  {
    id: 'deploy-nodes',
    title: `the same deploy, until ${NODES} nodes on PostgreSQL serve it`,
    goal: `≤ ${MOST_SERVED_MS} ms`,
    measure: measureServed,
  },
]

async function measureBuilding(timing: GoalTiming): Promise<Reached> {
  return await running(timing, async ({ base, token, pid }) => {
    const api = { base, token }
    const blueprint_guid = guidIn(await call(api, 'POST', 'blueprints', { name: 'Bench: built' }))
    const began = performance.now()
    let build = 0
    const costs: number[] = []
    for (let number = 1; number <= BLOCKS; number++) {
      const before = spentBy(pid)
      const in_pins = [{ id: 'value', expression: `1 + ${number}` }]
      await call(api, 'POST', 'blueprintactions', { blueprint_guid, type: 'value_default', in_pins })
      costs.push(spentBy(pid) - before)
      if (number === FIRST) build = performance.now() - began
    }
    const [few, many] = [median(costs.slice(20, 120)), median(costs.slice(-100))]
    const found = `${milliseconds(many)} of processor time each at the end, ${milliseconds(few)} at the begin; the first ${FIRST} in ${(build / 1000).toFixed(1)} s`
    return { found, met: many <= MOST_ADD_MS && build <= MOST_BUILD_MS }
  })
}

async function measureDeploy(timing: GoalTiming): Promise<Reached> {
  return await running(timing, async ({ base, token, pid }) => {
    const api = { base, token }
    const { blueprint, blocks } = await installBlueprint(api, await largeBlueprint(FIRST))
    const version = blocks.get('version') ?? ''
    const costs: number[] = []
    for (let value = 1; value <= 4 * timing.rounds; value++) {
      await stage(api, version, { value })
      const before = spentBy(pid)
      await deploy(api, blueprint)
      costs.push(spentBy(pid) - before)
    }
    const cost = median(costs)
    return { found: `${milliseconds(cost)} of processor time`, met: cost <= MOST_DEPLOY_MS }
  })
}

async function measureServed({ rounds }: GoalTiming): Promise<Reached> {
  const server = await openMeasuredPostgres({ durable: true })
  const nodes: Candidate[] = []
  try {
    const password = randomBytes(16).toString('base64url')
    const settings = { DATABASE_URL: server.url('postgres'), QUOIN_ADMIN_PASSWORD: password }
    for (let number = 0; number < NODES; number++) {
      const own = { ...settings, QUOIN_NODE: `node ${number}` }
      nodes.push(await startQuoin({ core: undefined, settings: own, password, installs: false }))
    }
    const [api] = nodes
    if (api === undefined) throw new Error('A cluster has a node.')
    const { blueprint, blocks } = await installBlueprint(api, await largeBlueprint(FIRST))
    const version = blocks.get('version') ?? ''
    const [times, costs]: [number[], number[]] = [[], []]
    const spent = () => nodes.reduce((sum, { pid }) => sum + spentBy(pid), 0)
    for (let value = 1; value <= 4 * rounds; value++) {
      await stage(api, version, { value })
      const [began, before] = [performance.now(), spent()]
      await deploy(api, blueprint)
      await Promise.all(nodes.map((node) => serves(node, value)))
      times.push(performance.now() - began)
      costs.push(spent() - before)
    }
    const [time, cost] = [median(times), median(costs)]
    const load = `load average ${(loadavg()[0] ?? 0).toFixed(1)}`
    const found = `${milliseconds(time)}, ${milliseconds(cost)} of processor time on all nodes (${load})`
    return { found, met: time <= MOST_SERVED_MS }
  } finally {
    for (const node of nodes) await node.close()
    await server.close()
  }
}

/** Asks until the new version answers. */
async function serves({ base }: Candidate, value: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const reply = await fetch(`${base}/api/v1/bench/version`)
    if ((await reply.text()) === String(value)) return
  }
  throw new Error('A node goes on serving the former version.')
}

/** Milliseconds. */
function spentBy(pid: number): number {
  return (cpuMicroseconds(pid) ?? Number.NaN) / 1000
}

async function running<T>({ core }: GoalTiming, work: (candidate: Candidate) => Promise<T>): Promise<T> {
  const candidate = await startQuoin({ core, installs: false })
  try {
    return await work(candidate)
  } finally {
    await candidate.close()
  }
}
