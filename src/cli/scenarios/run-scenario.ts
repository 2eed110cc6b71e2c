/** Runs one test of flows on a cluster of its own, step by step, until a step is not as expected. */

import { setTimeout } from 'node:timers/promises'
import type { WaitRecord } from '../../flows/run/wait-record.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { textIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { bodyOf, guidOf, recordsOf } from '../management.ts'
import { addTakenWays, type CoverageSoFar, coverageOf, recordRuns } from './coverage.ts'
import { differences } from './match-value.ts'
import {
  ADMIN_PASSWORD,
  type InstalledApplication,
  openCluster,
  type ScenarioCluster,
} from './scenario-cluster.ts'
import type { Expectation, Given, Scenario, Step } from './scenario-file.ts'

const USER_PASSWORD = 'a password of a test'
/** Where a test says nothing else. */
const USUAL_NOW = '2026-01-05T09:15:00Z'
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Documents of a storage that an expectation is compared with. */
const MOST_DOCUMENTS = 10_000

export interface ScenarioResult {
  readonly file: string
  readonly name: string
  /** Empty: it is as expected. Else what is not, with the step: `step 2, POST /movements: status: expected 202, got 400`. */
  readonly failures: readonly string[]
  readonly milliseconds: number
}

/** Milliseconds of the real clock for one test. */
const LONGEST_MS = 60_000

async function late(): Promise<readonly string[]> {
  await setTimeout(LONGEST_MS, undefined, { ref: false })
  return [`it did not end within ${LONGEST_MS / 1000} seconds.`]
}

/** What came of a step. */
interface Answer {
  readonly status?: number
  readonly headers?: JsonObject
  readonly body?: JsonValue
}

export async function runScenario(
  application: InstalledApplication,
  scenario: Scenario,
  coverage?: CoverageSoFar,
): Promise<ScenarioResult> {
  const began = performance.now()
  const failures = await Promise.race([failuresOf(application, scenario, coverage), late()])
  return { file: scenario.file, name: scenario.name, failures, milliseconds: performance.now() - began }
}

async function failuresOf(
  application: InstalledApplication,
  { given, steps }: Scenario,
  coverage: CoverageSoFar | undefined,
): Promise<readonly string[]> {
  const now = Date.parse(given.now ?? USUAL_NOW)
  if (Number.isNaN(now)) return [`given.now is no time: ${given.now}`]
  const cluster = await openCluster(application, { now, replies: given.replies ?? [] })
  try {
    const run = new ScenarioRun(cluster, coverage)
    await run.prepare(given)
    for (const [at, step] of steps.entries()) {
      const found = await run.step(step)
      if (found.length > 0) return found.map((one) => `step ${at + 1}, ${titleOf(step)}: ${one}`)
    }
    await run.addCoverage()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    await cluster.close()
  }
}

function titleOf(step: Step): string {
  switch (step.kind) {
    case 'request':
      return step.request
    case 'event':
      return `event in ${step.event.storage}`
    case 'expect':
      return 'expect'
    default:
      return `${step.kind} ${Object.entries(step).find(([name]) => name === step.kind)?.[1] ?? ''}`
  }
}

class ScenarioRun {
  readonly #cluster: ScenarioCluster
  readonly #coverage: CoverageSoFar | undefined
  readonly #tokens = new Map<string, string>()
  readonly #users = new Set<string>()
  /** How many mails and calls were looked at by a step. */
  #seenMails = 0
  #seenCalls = 0

  constructor(cluster: ScenarioCluster, coverage: CoverageSoFar | undefined) {
    this.#cluster = cluster
    this.#coverage = coverage
  }

  async prepare({
    users = [],
    documents = {},
    env = {},
    secrets = {},
    connections = [],
  }: Given): Promise<void> {
    for (const [name, value] of Object.entries(env))
      await this.#manage('POST', '/_system/environment', { name, value })
    for (const [name, value] of Object.entries(secrets))
      await this.#manage('POST', '/_system/secrets', { name, value })
    for (const connection of connections) await this.#manage('POST', '/_system/connections', connection)
    const groups = recordsOf(await this.#manage('POST', '/_system/authentication-groups/search', {}))
    for (const { username, groups: names = [], scopes = [], email } of users) {
      const guids = names.map((name) => {
        const found = groups.find((group) => group.name === name)
        if (!found)
          throw new Error(
            `The user ${username} is in the group ${name}, which the application does not have.`,
          )
        return guidOf(found)
      })
      const user = {
        username,
        password: USER_PASSWORD,
        custom_scopes: scopes,
        groups: guids,
        ...(email !== undefined && { email }),
      }
      await this.#manage('POST', '/users', user)
      this.#users.add(username)
    }
    for (const [storage, all] of Object.entries(documents)) await this.#create(storage, all)
    await this.#forgetEvents()
    await this.#cluster.settle()
  }

  /** `_meta.guid` of a document says by what others refer to it. */
  async #create(storage: string, documents: readonly Readonly<Record<string, JsonValue>>[]): Promise<void> {
    const { database } = this.#cluster.quoin
    if (!database.has(storage)) throw new Error(`The application has no storage ${storage}.`)
    const wanted = documents.map(({ _meta, ...fields }) => ({
      mutations: setFields(fields),
      options: isJsonObject(_meta) ? { guid: textIn(_meta.guid) } : {},
    }))
    const by = { guid: '', username: 'test' }
    await transact(
      database,
      async (session) => {
        const { refused } = await createAll(session, storage, wanted)
        if (refused) throw new Error(`given.documents.${storage}: ${refused.message}`)
      },
      { user: by },
    )
  }

  /** What a test begins with has always been there: no flow hears of it. */
  async #forgetEvents(): Promise<void> {
    const { jobs } = this.#cluster.quoin.database.capabilities
    const query = { kind: 'term', field: 'type', value: 'event' } as const
    for (const { guid } of (await jobs.search(search({ query, limit: 1_000 }))).records)
      await jobs.cancel(guid)
  }

  async addCoverage(): Promise<void> {
    const coverage = this.#coverage
    if (!coverage) return
    await addTakenWays(coverage, (...asked) => this.#manage(...asked))
    coverage.found = coverageOf(this.#cluster.quoin, coverage)
  }

  /** What is not as expected. */
  async step(step: Step): Promise<readonly string[]> {
    if (this.#coverage) await recordRuns(this.#cluster.quoin, (...asked) => this.#manage(...asked))
    const answer = await this.#do(step)
    await this.#cluster.settle()
    const { unanswered } = this.#cluster.calls
    if (unanswered.length > 0) return [`a call has no reply. Add to given.replies: ${unanswered.join(', ')}`]
    return this.#compare(step.expect ?? {}, answer)
  }

  #do(step: Step): Promise<Answer> {
    switch (step.kind) {
      case 'request':
        return this.#request(step)
      case 'event':
        return this.#created(step.event)
      case 'tick':
        return this.#byHand(step.tick, {})
      case 'call':
        return this.#byHand(step.call, step.parameters ?? {})
      case 'advance':
        return this.#advance(step.advance)
      case 'approve':
        return this.#end(step.approve, 'approval', { next: 'approved', comment: step.comment ?? '' }, step.as)
      case 'reject':
        return this.#end(step.reject, 'approval', { next: 'rejected', comment: step.comment ?? '' }, step.as)
      case 'webhook':
        return this.#end(step.webhook, 'request', { next: 'received', body: step.body ?? {} }, undefined)
      case 'expect':
        return Promise.resolve({})
    }
  }

  async #request({ request, as, headers = {}, body }: Extract<Step, { kind: 'request' }>): Promise<Answer> {
    const words = request.split(' ')
    const isPage = words[0] === 'page'
    const [method = '', path = ''] = isPage ? words.slice(1) : words
    return this.#send(method, isPage ? path : `/api/v1${path}`, { as, headers, body })
  }

  async #send(
    method: string,
    url: string,
    {
      as,
      headers = {},
      body,
    }: { as?: string | undefined; headers?: Readonly<Record<string, string>>; body?: JsonValue | undefined },
  ): Promise<Answer> {
    const type =
      body === undefined
        ? {}
        : { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' }
    const reply = await this.#cluster.quoin.server.app.inject({
      method: methodOf(method),
      url,
      headers: {
        ...(as !== undefined && { authorization: `Bearer ${await this.#tokenOf(as)}` }),
        ...type,
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const sent = Object.fromEntries(
      Object.entries(reply.headers).map(([name, value]) => [name, String(value)]),
    )
    return { status: reply.statusCode, headers: sent, body: parsed(reply.body) }
  }

  async #manage(method: string, path: string, body?: JsonValue): Promise<JsonValue> {
    const answer = await this.#send(method, `/api/v1${path}`, { as: 'admin', body })
    try {
      return bodyOf(answer.status ?? 0, JSON.stringify(answer.body ?? null))
    } catch (error) {
      throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  async #tokenOf(username: string): Promise<string> {
    const known = this.#tokens.get(username)
    if (known !== undefined) return known
    if (username !== 'admin' && !this.#users.has(username))
      throw new Error(`The test has no user ${username}. Add it to given.users.`)
    const password = username === 'admin' ? ADMIN_PASSWORD : USER_PASSWORD
    const { access_token } = await this.#cluster.quoin.access.signIn({ username, password, ip: '127.0.0.1' })
    this.#tokens.set(username, access_token)
    return access_token
  }

  async #created({
    storage,
    document,
  }: {
    storage: string
    document: Readonly<Record<string, JsonValue>>
  }): Promise<Answer> {
    const found = recordsOf(
      await this.#manage('POST', '/_system/storages/search', { filters: { name: storage } }),
    )
    const [one] = found
    if (!one) throw new Error(`There is no storage ${storage}.`)
    return this.#send('POST', `/api/v1/_system/storages/${guidOf(one)}/documents`, {
      as: 'admin',
      body: document,
    })
  }

  /** A trigger, for real, by the name of its block or function. */
  async #byHand(trigger: string, input: JsonObject): Promise<Answer> {
    const problems: string[] = []
    for (const blueprint of this.#cluster.quoin.flows.live.table().blueprints.keys()) {
      const body = { trigger, effects: 'real', ...(Object.keys(input).length > 0 && { input }) }
      const answer = await this.#send('POST', `/api/v1/blueprints/${blueprint}/run`, { as: 'admin', body })
      if (answer.status === 200 && isJsonObject(answer.body))
        return { status: answer.body.status === 'failed' ? 500 : 200, body: answer.body.result ?? null }
      problems.push(isJsonObject(answer.body) ? String(answer.body.message) : `status ${answer.status}`)
    }
    throw new Error(`${trigger} could not be run: ${[...new Set(problems)].join(' ')}`)
  }

  async #advance(duration: string): Promise<Answer> {
    const unit = UNITS[duration.slice(-1)] ?? 0
    this.#tokens.clear()
    await this.#cluster.advance(Number(duration.slice(0, -1)) * unit)
    return {}
  }

  async #end(
    title: string,
    kind: WaitRecord['kind'],
    { next, ...gives }: { next: string } & Readonly<Record<string, JsonValue>>,
    as: string | undefined,
  ): Promise<Answer> {
    const { waits } = this.#cluster.quoin
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
    const by = as === undefined ? undefined : await this.#decider(as, wait)
    const at = new Date(this.#cluster.now())
    await waits.end(wait, { gives: { next, at, ...gives, ...(by && { by }) }, told: { decision: next }, by })
    return {}
  }

  /** A user whose list of tasks has the approval: who may not decide it cannot in a test either. */
  async #decider(username: string, wait: WaitRecord) {
    const { body } = await this.#send('GET', '/api/v1/users/me/tasks?limit=200', { as: username })
    if (!recordsOf(body ?? []).some(({ guid }) => guid === wait.guid))
      throw new Error(
        `${username} may not decide ${JSON.stringify(wait.title)}: it asks for ${wait.scopes.join(' or ') || 'the link'}.`,
      )
    const me = await this.#send('GET', '/api/v1/users/me', { as: username })
    return { guid: guidOf(me.body ?? null), username }
  }

  async #compare(expect: Expectation, answer: Answer): Promise<readonly string[]> {
    const now = this.#cluster.now()
    const found: string[] = []
    const look = (name: string, expected: JsonValue | undefined, actual: JsonValue | undefined) => {
      if (expected !== undefined) found.push(...differences(expected, actual, name, now))
    }
    look('status', expect.status, answer.status)
    look('headers', lowerNames(expect.headers), answer.headers)
    look('body', expect.body, answer.body)
    const { mails, calls } = this.#cluster
    if (expect.mails !== undefined) {
      look(
        'mails',
        expect.mails,
        mails.slice(this.#seenMails).map((mail) => ({
          ...mail,
          to: mail.to.join(', '),
          cc: mail.cc.join(', '),
          attachments: [...mail.attachments],
        })),
      )
      this.#seenMails = mails.length
    }
    if (expect.calls !== undefined) {
      look(
        'calls',
        expect.calls,
        calls.calls.slice(this.#seenCalls).map((call) => ({ ...call, headers: { ...call.headers } })),
      )
      this.#seenCalls = calls.calls.length
    }
    if (expect.waits !== undefined) look('waits', expect.waits, await this.#waiting())
    for (const [storage, expected] of Object.entries(expect.documents ?? {})) {
      const documents = await this.#documents(storage)
      look(`documents.${storage}`, expected, typeof expected === 'number' ? documents.length : documents)
    }
    const dead = await this.#dead()
    const most = expect.dead ?? 0
    if (dead.length !== most)
      found.push(
        `dead: expected ${most} dead letters, got ${dead.length}${dead.map(({ title, lastError }) => `; ${title}: ${lastError}`).join('')}`,
      )
    return found
  }

  async #waiting(): Promise<number> {
    const query = { kind: 'term', field: 'state', value: 'waiting' } as const
    return (await this.#cluster.quoin.waits.search(search({ query, limit: 1_000 }))).records.length
  }

  async #dead() {
    const query = { kind: 'term', field: 'status', value: 'dead' } as const
    return (await this.#cluster.quoin.database.capabilities.jobs.search(search({ query, limit: 100 })))
      .records
  }

  /** The oldest first. */
  async #documents(storage: string): Promise<JsonObject[]> {
    const { database } = this.#cluster.quoin
    if (!database.has(storage)) return []
    const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
    const found = await database
      .session()
      .find(storage, search({ query: matchAll, sort, limit: MOST_DOCUMENTS }))
    return recordsOf(found.documents.value)
  }
}

function methodOf(method: string) {
  switch (method) {
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE':
    case 'HEAD':
      return method
    default:
      return 'GET'
  }
}

function lowerNames(headers: JsonObject | undefined): JsonObject | undefined {
  return (
    headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  )
}

function parsed(text: string): JsonValue {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
