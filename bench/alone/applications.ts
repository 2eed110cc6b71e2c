/**
 * `node bench/alone/applications.ts`: processor time of the server for the plan of an application with 1,000 blocks and 50 storages, and
 * for a push that changes one block of it. Medians of seven. Ends with 1 where one is above its goal.
 */
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { startQuoin } from '../candidates.ts'
import { cpuMicroseconds } from '../cpu-time.ts'
import { call } from '../management-api.ts'
import { median } from '../statistics.ts'

const BLUEPRINTS = 50
/** Of one blueprint: a trigger, values and a reply. */
const VALUES = 18
const ROUNDS = 7
const MOST_PLAN_MS = 2_000
const MOST_PUSH_MS = 1_000

function blueprint(number: number, changed: number): JsonObject {
  const values = Object.fromEntries(
    Array.from({ length: VALUES }, (_, at) => [
      `v${at}`,
      { type: 'value_default', in: { value: at === 0 ? changed : `@v${at - 1}.value` } },
    ]),
  )
  return {
    name: `Large ${number}`,
    blocks: {
      on: { type: 'on_startup_register_uri_get', in: { uri: `large/${number}` }, scopes: ['*public'] },
      ...values,
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: `@v${VALUES - 1}.value` } },
    },
  }
}

function application(changed: number): JsonObject {
  const numbers = Array.from({ length: BLUEPRINTS }, (_, number) => number)
  return {
    about: { name: 'large' },
    blueprints: Object.fromEntries(
      numbers.map((number) => [`b${number}`, blueprint(number, number === 0 ? changed : 0)]),
    ),
    storages: Object.fromEntries(
      numbers.map((number) => [
        `large${number}`,
        { fields: { code: { type: 'string', unique: true }, amount: { type: 'decimal' } } },
      ]),
    ),
    ...{ groups: {}, templates: {}, seed: {}, tests: {} },
  }
}

const server = await startQuoin({ core: undefined })
const path = '_system/applications'

async function took(work: () => Promise<unknown>): Promise<number> {
  const before = cpuMicroseconds(server.pid) ?? Number.NaN
  await work()
  return ((cpuMicroseconds(server.pid) ?? Number.NaN) - before) / 1_000
}

async function plan(changed: number): Promise<JsonObject[string]> {
  const found = await call(server, 'POST', `${path}/plan`, { application: application(changed) })
  return isJsonObject(found) ? (found.state ?? null) : null
}

/** A transaction may be open for five seconds, which a busy machine needs for less work. */
async function push(changed: number, state: JsonObject[string]): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await call(server, 'POST', `${path}/push`, { application: application(changed), state })
      return
    } catch (error) {
      if (tries === 5) throw error
    }
}

try {
  const firstPlan = await took(() => plan(0))
  const state = await plan(0)
  const firstPush = await took(() => push(0, state))
  const [plans, pushes]: [number[], number[]] = [[], []]
  for (let round = 1; round <= ROUNDS; round++) {
    plans.push(await took(() => plan(round)))
    const now = await plan(round)
    pushes.push(await took(() => push(round, now)))
  }
  const shown = (milliseconds: number) => `${milliseconds.toFixed(0)} ms`
  process.stdout.write(
    `plan of a new application: ${shown(firstPlan)}, its push: ${shown(firstPush)}\n` +
      `plan with one changed block: ${shown(median(plans))}, its push: ${shown(median(pushes))}\n`,
  )
  if (Math.max(firstPlan, median(plans)) > MOST_PLAN_MS || median(pushes) > MOST_PUSH_MS) process.exitCode = 1
} finally {
  await server.close()
}
