/** Building a blueprint by API: a further block among 1,000, 500 one by one, and one change on one node and on three, by a deploy and by a push. */
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { isJsonObject } from '../../src/shared/json.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { cpuMicroseconds } from '../cpu-time.ts'
import { call, deploy, guidIn, installBlueprint, type ManagementApi, stage } from '../management-api.ts'
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
const [BLUEPRINTS, STORAGES] = [25, 50]
const MOST_PUSHED_MS = 1_000

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
    measure: (timing) => onNodes(timing, MOST_SERVED_MS, deploying),
  },
  {
    id: 'push-nodes',
    title: `plan and push of one changed block of ${BLOCKS.toLocaleString('en-US')}, with ${BLUEPRINTS} blueprints and ${STORAGES} storages, until ${NODES} nodes on PostgreSQL serve it`,
    goal: `≤ ${MOST_PUSHED_MS} ms`,
    measure: (timing) => onNodes(timing, MOST_PUSHED_MS, pushing),
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

/** What makes `bench/version` reply with this value, in two steps: what is measured comes second. */
type Change = (value: number) => Promise<() => Promise<void>>

async function deploying(api: ManagementApi): Promise<Change> {
  const { blueprint, blocks } = await installBlueprint(api, await largeBlueprint(FIRST))
  const version = blocks.get('version') ?? ''
  return async (value) => {
    await stage(api, version, { value })
    return () => deploy(api, blueprint)
  }
}

async function pushing(api: ManagementApi): Promise<Change> {
  const push = async (value: number) => {
    const application = manyBlueprints(value)
    const planned = await call(api, 'POST', '_system/applications/plan', { application })
    const state = isJsonObject(planned) ? planned.state : ''
    await call(api, 'POST', '_system/applications/push', { application, state })
  }
  await push(0)
  return async (value) => () => push(value)
}

function manyBlueprints(value: number) {
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
  const blueprint = (number: number) => {
    const uri = number === 0 ? 'bench/version' : `bench/other/${number}`
    const steps = numbers(BLOCKS / BLUEPRINTS - 2).map((step) => {
      const flow = step === 0 ? '@on.flow' : `@step${step - 1}.true`
      return [`step${step}`, { type: 'branch', in: { flow, condition: '=query.on == null' } }] as const
    })
    const on = { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] }
    const last = { flow: `@step${steps.length - 1}.true`, value: number === 0 ? value : number }
    const reply = { type: 'httpconnection_set_json', in: last }
    return { name: `Bench ${number}`, blocks: { on, ...Object.fromEntries(steps), reply } }
  }
  const storage = { fields: { title: { type: 'string' }, code: { type: 'string', unique: true } } }
  return {
    about: { name: 'bench' },
    blueprints: Object.fromEntries(numbers(BLUEPRINTS).map((at) => [`bench${at}`, blueprint(at)])),
    storages: Object.fromEntries(numbers(STORAGES).map((at) => [`bench_${at}`, storage])),
    ...{ groups: {}, templates: {}, seed: {}, tests: {} },
  }
}

async function onNodes(
  { rounds }: GoalTiming,
  most: number,
  prepare: (api: ManagementApi) => Promise<Change>,
): Promise<Reached> {
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
    const change = await prepare(api)
    const [times, costs]: [number[], number[]] = [[], []]
    const spent = () => nodes.reduce((sum, { pid }) => sum + spentBy(pid), 0)
    for (let value = 1; value <= 4 * rounds; value++) {
      const apply = await change(value)
      const [began, before] = [performance.now(), spent()]
      await apply()
      await Promise.all(nodes.map((node) => serves(node, value)))
      times.push(performance.now() - began)
      costs.push(spent() - before)
    }
    const [time, cost] = [median(times), median(costs)]
    const load = `load average ${(loadavg()[0] ?? 0).toFixed(1)}`
    const found = `${milliseconds(time)}, ${milliseconds(cost)} of processor time on all nodes (${load})`
    return { found, met: time <= most }
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
