/**
 * Runs one test of flows, step by step, until a step is not as expected: on the cluster of the test before, which was set back, or on a
 * new one where that test did not pass.
 */
import { setTimeout } from 'node:timers/promises'
import type { WaitRecord } from '../../flows/run/wait-record.ts'
import { reservedPageRoots, reservedRoots } from '../../http/server/reserved-roots.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { guidOf, recordsOf } from '../management.ts'
import { stateComparer } from './compare-state.ts'
import { addTakenWays, type CoverageSoFar, coverageOf, recordRuns, runsOf } from './coverage.ts'
import { visitPage } from './page-step.ts'
import {
  giveBack,
  type InstalledApplication,
  isShareable,
  type ScenarioCluster,
  takeCluster,
} from './scenario-cluster.ts'
import type { Scenario, ScenarioInput, Step } from './scenario-file.ts'
import { type Answer, type ScenarioRequests, scenarioRequests } from './scenario-requests.ts'

/** Where a test says nothing else. */
const USUAL_NOW = '2026-01-05T09:15:00Z'
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export interface ScenarioResult {
  readonly file: string
  readonly name: string
  /** Empty: it is as expected. Else what is not, with the step: `step 2, POST /movements: status: expected 202, got 400`. */
  readonly failures: readonly string[]
  readonly milliseconds: number
}

const LONGEST_MS = 60_000

export interface RunOptions {
  readonly coverage?: CoverageSoFar | undefined
  /** Each test has a cluster that was opened for it. */
  readonly fresh?: boolean | undefined
  /** Milliseconds of the real clock for one test. */
  readonly longest?: number | undefined
  /** Ends after so many milliseconds of the real clock, or rejects when the test is over. */
  readonly wait?: ((milliseconds: number, isOver: AbortSignal) => Promise<void>) | undefined
  /** Sees the reply of each step. */
  readonly answered?: ((answer: Answer) => void) | undefined
  /** Calls of these servers are sent. */
  readonly live?: LiveServers | undefined
  /** Has all runs recorded, and sees them behind the last step, also where it failed. */
  readonly recorded?: ((runs: readonly JsonObject[]) => void) | undefined
  /** Sees them only where it failed. */
  readonly failedOnly?: boolean | undefined
  /** Looks at the cluster behind the last step. */
  readonly ended?: ((cluster: ScenarioCluster) => Promise<void>) | undefined
}

/** Servers that evaluations ask in place of what was recorded of them. */
export interface LiveServers extends Required<Pick<ScenarioInput, 'connections' | 'secrets'>> {
  /** As `hostOf` writes them. */
  readonly hosts: readonly string[]
}

export async function runScenario(
  application: InstalledApplication,
  scenario: Scenario,
  options: RunOptions = {},
): Promise<ScenarioResult> {
  const began = performance.now()
  const isLate = new AbortController()
  const isOver = new AbortController()
  const { longest = LONGEST_MS, wait = waitUnlessOver } = options
  const late = async () => {
    await wait(longest, isOver.signal)
    isLate.abort()
    return [`it did not end within ${longest / 1000} seconds.`]
  }
  try {
    const failures = await Promise.race([failuresOf(application, scenario, options, isLate.signal), late()])
    return { file: scenario.file, name: scenario.name, failures, milliseconds: performance.now() - began }
  } finally {
    // Its cluster may be that of the next test by now, which its own clock must not close.
    isOver.abort()
  }
}

function waitUnlessOver(milliseconds: number, isOver: AbortSignal): Promise<void> {
  return setTimeout(milliseconds, undefined, { ref: false, signal: isOver })
}

async function failuresOf(
  application: InstalledApplication,
  { given: inputs, steps }: Scenario,
  { coverage, fresh = false, answered, recorded, failedOnly = false, ended, live }: RunOptions,
  isLate: AbortSignal,
): Promise<readonly string[]> {
  const now = Date.parse(inputs.now ?? USUAL_NOW)
  if (Number.isNaN(now)) return [`given.now is no time: ${inputs.now}`]
  const isShared = !fresh && isShareable(now) && !steps.some(asksQuoin)
  const start = { now, replies: inputs.replies ?? [], live: live?.hosts ?? [] }
  const cluster = await takeCluster(application, start, isShared)
  isLate.addEventListener('abort', () => void cluster.close().catch(() => undefined))
  const requests = scenarioRequests(cluster)
  const { manage } = requests
  const addCoverage = async () => {
    if (!coverage || isLate.aborted) return
    await addTakenWays(coverage, manage)
    coverage.found = coverageOf(cluster.quoin, coverage)
  }
  let hasPassed = false
  try {
    await prepareScenario(cluster, requests, inputs)
    const compare = stateComparer(cluster)
    for (const [at, step] of steps.entries()) {
      if (coverage || recorded) await recordRuns(cluster.quoin, manage)
      const answer = await done({ cluster, requests }, step).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        throw new Error(`step ${at + 1}, ${titleOf(step)}: ${reason}`, { cause: error })
      })
      answered?.(answer)
      await cluster.settle()
      const { unanswered } = cluster.calls
      if (unanswered.length > 0)
        return [
          `step ${at + 1}, ${titleOf(step)}: a call has no reply. Add to given.replies: ${unanswered.join(', ')}`,
        ]
      const found = await compare(step.expect ?? {}, answer)
      if (found.length > 0) return found.map((one) => `step ${at + 1}, ${titleOf(step)}: ${one}`)
    }
    await addCoverage()
    await ended?.(cluster)
    hasPassed = true
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    if (recorded && !(hasPassed && failedOnly) && !isLate.aborted)
      recorded(await runsOf(cluster.quoin, manage).catch(() => []))
    // How far it came is drawn on the canvas too.
    if (!hasPassed) await addCoverage().catch(() => undefined)
    await (isShared && hasPassed && !isLate.aborted ? giveBack(application, cluster) : cluster.close())
  }
}

/** Whether a step asks Quoin itself, which knows more of a cluster than flows do: figures, logs, what was asked before. */
function asksQuoin(step: Step): boolean {
  if (step.kind !== 'request' && step.kind !== 'page') return false
  const [first = '', second = '', third = ''] =
    step.kind === 'page' ? ['page', 'GET', step.page] : step.request.split(' ')
  const isPage = first === 'page'
  const [, root = ''] = (isPage ? third : second).split(/[/?]/)
  return isPage ? reservedPageRoots.has(root) : reservedRoots.has(root)
}

function titleOf(step: Step): string {
  switch (step.kind) {
    case 'request':
      return step.request
    case 'page':
      return `page ${step.page}`
    case 'event':
      return `event in ${step.event.storage}`
    case 'expect':
      return 'expect'
    default:
      return `${step.kind} ${Object.entries(step).find(([name]) => name === step.kind)?.[1] ?? ''}`
  }
}

/** What steps are done on. */
interface Running {
  readonly cluster: ScenarioCluster
  readonly requests: ScenarioRequests
}

/** Does a step and gives its reply; what is due behind it is done by `settle`. */
function done(on: Running, step: Step): Promise<Answer> {
  switch (step.kind) {
    case 'request':
      return request(on, step)
    case 'page':
      return visitPage(on.requests, step)
    case 'event':
      return created(on, step.event)
    case 'tick':
      return byHand(on, step.tick, {})
    case 'call':
      return byHand(on, step.call, step.parameters ?? {})
    case 'advance':
      return advance(on, step.advance)
    case 'approve':
      return end(on, step.approve, 'approval', { next: 'approved', comment: step.comment ?? '' }, step.as)
    case 'reject':
      return end(on, step.reject, 'approval', { next: 'rejected', comment: step.comment ?? '' }, step.as)
    case 'webhook':
      return end(on, step.webhook, 'request', { next: 'received', body: step.body ?? {} }, undefined)
    case 'expect':
      return Promise.resolve({})
  }
}

async function request(
  on: Running,
  { request, as, headers = {}, body }: Extract<Step, { kind: 'request' }>,
): Promise<Answer> {
  const words = request.split(' ')
  const isPage = words[0] === 'page'
  const [method = '', path = ''] = isPage ? words.slice(1) : words
  return on.requests.send(method, isPage ? path : `/api/v1${path}`, { as, headers, body })
}

async function created(
  on: Running,
  {
    storage,
    document,
  }: {
    storage: string
    document: Readonly<Record<string, JsonValue>>
  },
): Promise<Answer> {
  const found = recordsOf(
    await on.requests.manage('POST', '/_system/storages/search', { filters: { name: storage } }),
  )
  const [one] = found
  if (!one) throw new Error(`There is no storage ${storage}.`)
  return on.requests.send('POST', `/api/v1/_system/storages/${guidOf(one)}/documents`, {
    as: 'admin',
    body: document,
  })
}

/** A trigger, for real, by the name of its block or function. */
async function byHand(on: Running, trigger: string, input: JsonObject): Promise<Answer> {
  const problems: string[] = []
  for (const blueprint of on.cluster.quoin.flows.live.table().blueprints.keys()) {
    const body = { trigger, effects: 'real', ...(Object.keys(input).length > 0 && { input }) }
    const answer = await on.requests.send('POST', `/api/v1/blueprints/${blueprint}/run`, {
      as: 'admin',
      body,
    })
    if (answer.status === 200 && isJsonObject(answer.body))
      return { status: answer.body.status === 'failed' ? 500 : 200, body: answer.body.result ?? null }
    problems.push(isJsonObject(answer.body) ? String(answer.body.message) : `status ${answer.status}`)
  }
  throw new Error(`${trigger} could not be run: ${[...new Set(problems)].join(' ')}`)
}

async function advance(on: Running, duration: string): Promise<Answer> {
  const unit = UNITS[duration.slice(-1)] ?? 0
  on.requests.signInAgain()
  await on.cluster.advance(Number(duration.slice(0, -1)) * unit)
  return {}
}

async function end(
  on: Running,
  title: string,
  kind: WaitRecord['kind'],
  { next, ...gives }: { next: string } & Readonly<Record<string, JsonValue>>,
  as: string | undefined,
): Promise<Answer> {
  const { waits } = on.cluster.quoin
  const query = { kind: 'term', field: 'kind', value: kind } as const
  const open = (await waits.search(search({ query, limit: 200 }))).records.filter(
    ({ state }) => state === 'waiting',
  )
  const wait =
    open.find((one) => one.title === title) ?? (open.length === 1 && title === '*' ? open[0] : undefined)
  if (!wait) {
    const titles = open.map((one) => JSON.stringify(one.title)).join(', ') || 'none'
    throw new Error(`No ${kind} with the title ${JSON.stringify(title)} waits. Those that wait: ${titles}.`)
  }
  const by = as === undefined ? undefined : await decider(on, as, wait)
  const at = new Date(on.cluster.now())
  await waits.end(wait, { gives: { next, at, ...gives, ...(by && { by }) }, logged: { decision: next }, by })
  return {}
}

/** A user whose list of tasks has the approval: who may not decide it cannot in a test either. */
async function decider(on: Running, username: string, wait: WaitRecord) {
  const { body } = await on.requests.send('GET', '/api/v1/users/me/tasks?limit=200', { as: username })
  if (!recordsOf(body ?? []).some(({ guid }) => guid === wait.guid))
    throw new Error(
      `${username} may not decide ${JSON.stringify(wait.title)}: it asks for ${wait.scopes.join(' or ') || 'the link'}.`,
    )
  const me = await on.requests.send('GET', '/api/v1/users/me', { as: username })
  return { guid: guidOf(me.body ?? null), username }
}

// Makes what a test begins with: values, secrets, connections, users and documents.

async function prepareScenario(
  cluster: ScenarioCluster,
  { manage, addUser }: ScenarioRequests,
  { users = [], documents = {}, env = {}, secrets = {}, connections = [] }: ScenarioInput,
): Promise<void> {
  for (const [name, value] of Object.entries(env))
    await manage('POST', '/_system/environment', { name, value })
  for (const [name, value] of Object.entries(secrets))
    await manage('POST', '/_system/secrets', { name, value })
  for (const connection of connections) await manage('POST', '/_system/connections', connection)
  const known =
    users.length === 0
      ? []
      : documentsOf(
          await cluster.quoin.database.session().find(systemStorages.groups, search({ limit: 1_000 })),
        )
  for (const { username, groups = [], scopes = [], email } of users) {
    const guids = groups.map((name) => {
      const found = known.find((group) => group.name === name)
      if (!found)
        throw new Error(`The user ${username} is in the group ${name}, which the application does not have.`)
      return guidOf(found)
    })
    await addUser({ username, custom_scopes: scopes, groups: guids, ...(email !== undefined && { email }) })
  }
  for (const [storage, all] of Object.entries(documents)) await createDocuments(cluster, storage, all)
  if (Object.keys(documents).length > 0) await forgetEvents(cluster)
  await cluster.settle()
}

/** `_meta.guid` of a document says by what others refer to it. */
async function createDocuments(
  { quoin: { database } }: ScenarioCluster,
  storage: string,
  documents: readonly Readonly<Record<string, JsonValue>>[],
): Promise<void> {
  if (!database.has(storage)) throw new Error(`The application has no storage ${storage}.`)
  const requested = documents.map(({ _meta, ...fields }) => ({
    mutations: setFields(fields),
    options: isJsonObject(_meta) ? { guid: textIn(_meta.guid) } : {},
  }))
  await transact(
    database,
    async (session) => {
      const { refused } = await createAll(session, storage, requested)
      if (refused) throw new Error(`given.documents.${storage}: ${refused.message}`)
    },
    { user: { guid: '', username: 'test' } },
  )
}

/** What a test begins with has always been there: no flow hears of it. */
async function forgetEvents({ quoin }: ScenarioCluster): Promise<void> {
  const { jobs } = quoin.database.capabilities
  const query = { kind: 'term', field: 'type', value: 'event' } as const
  for (;;) {
    const { records } = await jobs.search(search({ query, limit: 1_000 }))
    if (records.length === 0) return
    for (const { guid } of records) await jobs.cancel(guid)
  }
}
