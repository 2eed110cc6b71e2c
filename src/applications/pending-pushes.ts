/**
 * Pushes that a second person must approve, where a setting of the cluster asks for it. A push is stored with its content and plan:
 *
 *   waiting → approved → released      by another user, who approves this plan; then it is released as its author would do it
 *           → rejected, withdrawn      by another user; by its author
 *           → expired                  without a decision for three days
 *           → outdated                 the cluster was changed since the plan: its author pushes again
 *
 * The request that approves does the rest. A node that is killed meanwhile leaves the push waiting or approved: the next approval, or the same
 * push once more, goes on from there. One request at a time works on a push.
 */
import type { Access } from '../access/access.ts'
import type { Identity } from '../access/identity-cache.ts'
import { holds } from '../access/scopes.ts'
import type { AuditLog } from '../records/audit-log.ts'
import type { Actor } from '../records/records.ts'
import type { Task } from '../shared/api/operate/waits.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'
import type { Applications } from './applications.ts'
import type { Publisher } from './apply-release.ts'
import {
  checkOptions,
  checkPlan,
  digestOf,
  type PushOptions,
  readApplication,
  refuse,
} from './read-application.ts'
import type { ApplicationPlan, Preparing, Released } from './release-results.ts'
import type { VerifiedBlueprint } from './verified-push.ts'

export const APPROVE_SCOPE = 'applications_approve'

/** Those that are decided stay in the list until so many others follow. */
const MOST_PUSHES = 200
const MOST_WAITING = 50
const WAITS_MS = 3 * 24 * 60 * 60 * 1_000

export type PushState =
  | 'waiting'
  | 'approved'
  | 'released'
  | 'rejected'
  | 'withdrawn'
  | 'expired'
  | 'outdated'

/** A push as it is shown: without what it holds. */
export interface PendingPush {
  readonly guid: string
  readonly application: string
  readonly release: number
  readonly status: PushState
  readonly isRemoval: boolean
  readonly allowLoss: boolean
  readonly moveWaits: boolean
  readonly plan: ApplicationPlan
  readonly by: Actor
  readonly agent: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly until: number
  readonly decidedBy: Actor | undefined
  readonly comment: string
}

/** Nothing was changed yet. */
export interface Waiting {
  readonly application: string
  readonly release: number
  readonly waiting: PendingPush
  readonly verified?: readonly VerifiedBlueprint[]
}

export interface PendingPushes {
  /** As `push` of applications, or waits for another user. */
  push(input: JsonObject, options: PushOptions, by: Publisher): Promise<Released | Preparing | Waiting>
  remove(name: string, options: PushOptions, by: Publisher): Promise<ApplicationPlan | Waiting>
  /** The newest first. */
  list(): Promise<readonly PendingPush[]>
  /** NOT_FOUND. */
  get(guid: string): Promise<PendingPush>
  content(guid: string): Promise<Application>
  /** Those that this user may decide, as lists of tasks show them. */
  tasks(user: Pick<Identity, 'guid' | 'scopes'>): Promise<readonly Task[]>
  /** `state`: of the plan that was looked at. CONFLICT for another one, and for one that the cluster no longer fits. */
  approve(guid: string, state: string, by: Identity): Promise<Released | Preparing>
  reject(guid: string, comment: string, by: Identity): Promise<PendingPush>
  withdraw(guid: string, by: Identity): Promise<PendingPush>
}

export interface PendingParts {
  readonly applications: Applications
  readonly access: Pick<Access, 'activeUser'>
  readonly database: Database
  readonly audit: Pick<AuditLog, 'record'>
  readonly clock: Clock
  /** Names of applications that need a second person, or `*`. */
  readonly needed: () => readonly string[]
}

export async function openPendingPushes(parts: PendingParts): Promise<PendingPushes> {
  const { database } = parts
  await database.ensure(systemStorages.pushes, { indexes: [{ fields: ['status'] }] })
  await database.ensure(systemStorages.pushContents, { indexes: [{ fields: ['push'], unique: true }] })
  return new StoredPushes(parts)
}

class StoredPushes implements PendingPushes {
  readonly #parts: PendingParts

  constructor(parts: PendingParts) {
    this.#parts = parts
  }

  async push(input: JsonObject, options: PushOptions, by: Publisher) {
    const { applications } = this.#parts
    const requested = await readApplication(input)
    if (!this.#needsApproval(nameOfApplication(requested))) return applications.push(input, options, by)
    checkOptions(options, by.deployer.lacks)
    const known = await this.#same(requested, options, by.actor)
    if (known?.status === 'approved') return this.#release(known)
    // The approval was faster.
    if (known?.status === 'released') return released(known.plan)
    if (known) return waitingOf(known)
    const plan = await applications.plan(input, by)
    checkPlan(plan, options)
    if (plan.steps.length === 0) return applications.push(input, options, by)
    const verified = await applications.verify(input, options, by)
    return waitingOf(await this.#store({ requested, options, plan, by, isRemoval: false }), verified)
  }

  async remove(name: string, options: PushOptions, by: Publisher) {
    const { applications } = this.#parts
    if (!this.#needsApproval(name)) return applications.remove(name, options, by)
    const requested = await readApplication({ about: { name } })
    const known = await this.#same(requested, options, by.actor)
    if (known) return waitingOf(known)
    const plan = await applications.planRemoval(name, by)
    checkPlan(plan, options)
    return waitingOf(await this.#store({ requested, options, plan, by, isRemoval: true }))
  }

  async list(): Promise<readonly PendingPush[]> {
    const found = await findAll(this.#session, systemStorages.pushes, matchAll, 2 * MOST_PUSHES)
    return found.map((record) => this.#shown(record)).toSorted((a, b) => b.created - a.created)
  }

  async get(guid: string): Promise<PendingPush> {
    return this.#shown(await recordOf(this.#session, guid))
  }

  async content(guid: string): Promise<Application> {
    await recordOf(this.#session, guid)
    const stored = await findOne(this.#session, systemStorages.pushContents, 'push', guid)
    return readApplication(JSON.parse(textIn(stored?.content) || '{}'))
  }

  async tasks({ guid, scopes }: Pick<Identity, 'guid' | 'scopes'>): Promise<readonly Task[]> {
    if (!holds(scopes, APPROVE_SCOPE)) return []
    return (await this.#waiting()).filter(({ by }) => by.guid !== guid).map(taskOf)
  }

  approve(guid: string, state: string, by: Identity): Promise<Released | Preparing> {
    return this.#alone(guid, async () => {
      const push = await this.get(guid)
      checkDecider(push, by)
      if (push.plan.state !== state)
        throw new QuoinError(
          'CONFLICT',
          'The push has another plan than the one that you approve. Look at it again.',
        )
      if (push.status === 'released') return released(push.plan)
      if (push.status === 'approved') return this.#carryOut(push)
      checkWaiting(push)
      const decided_by = actorOf(by)
      // Before anything is stored, so that an approval is never of a plan that the cluster no longer fits.
      await this.#checkState(push)
      return this.#carryOut(await this.#decide(push, { status: 'approved', decided_by }, decided_by))
    })
  }

  reject(guid: string, comment: string, by: Identity): Promise<PendingPush> {
    return this.#alone(guid, async () => {
      const push = await this.get(guid)
      checkDecider(push, by)
      checkWaiting(push)
      const decided_by = actorOf(by)
      return this.#decide(push, { status: 'rejected', decided_by, comment }, decided_by)
    })
  }

  withdraw(guid: string, by: Identity): Promise<PendingPush> {
    return this.#alone(guid, async () => {
      const push = await this.get(guid)
      if (push.by.guid !== by.guid)
        throw new QuoinError(
          'INSUFFICIENT_PERMISSIONS',
          'Only its author withdraws a push. Reject it instead.',
        )
      checkWaiting(push)
      return this.#decide(push, { status: 'withdrawn', decided_by: actorOf(by) }, actorOf(by))
    })
  }

  get #session(): Session {
    return this.#parts.database.session()
  }

  #needsApproval(name: string): boolean {
    const needed = this.#parts.needed()
    return needed.includes('*') || needed.includes(name)
  }

  #alone<T>(guid: string, work: () => Promise<T>): Promise<T> {
    return this.#parts.database.capabilities.withClusterLock(`push ${guid}`, work)
  }

  async #waiting(): Promise<readonly PendingPush[]> {
    const query = { kind: 'term', field: 'status', value: 'waiting' } as const
    const found = await findAll(this.#session, systemStorages.pushes, query, 2 * MOST_PUSHES)
    return found.map((record) => this.#shown(record)).filter(({ status }) => status === 'waiting')
  }

  /**
   * The same push of the same user, unless it ended without a release. Of a cluster in the same state: it has the number of the
   * release, so what was released before is not found again.
   */
  async #same(requested: Application, options: PushOptions, by: Actor): Promise<PendingPush | undefined> {
    const query = { kind: 'term', field: 'digest', value: digestOf(requested, options) } as const
    const found = await findAll(this.#session, systemStorages.pushes, query, MOST_PUSHES)
    return found
      .map((record) => this.#shown(record))
      .find(({ by: author, status }) => author.guid === by.guid && underWay.includes(status))
  }

  async #store({ requested, options, plan, by, isRemoval }: NewPush): Promise<PendingPush> {
    const { database, audit, clock } = this.#parts
    const now = clock()
    const fields = {
      ...{ application: plan.application, release: plan.release, status: 'waiting' },
      digest: digestOf(requested, options),
      ...{ is_removal: isRemoval, allow_loss: options.allowLoss, move_waits: options.moveWaits === true },
      plan: JSON.stringify({ ...plan, changes: [] }),
      ...{ by: { ...by.actor }, scopes: [...by.identity.scopes], agent: by.agent ?? '' },
      ...{ created: now, until: now + WAITS_MS, comment: '' },
    }
    const work = async (session: Session) => {
      await makeRoom(session, now)
      const stored = documentOf(await session.create(systemStorages.pushes, setFields(fields)))
      const content = JSON.stringify(requested)
      await session.create(systemStorages.pushContents, setFields({ push: guidOf(stored), content }))
      await audit.record(session, {
        ...{ category: 'applications', action: 'created', guid: guidOf(stored) },
        ...{ name: plan.application, before: undefined },
        after: { push: 'waiting', release: plan.release, steps: [...plan.steps], lost: [...plan.lost] },
      })
      return stored
    }
    const stored = await database.capabilities.withClusterLock(systemStorages.pushes, () =>
      transactAgain(database, work, { user: by.actor }),
    )
    return this.#shown(stored)
  }

  async #decide(push: PendingPush, fields: JsonObject, by: Actor): Promise<PendingPush> {
    const { database, audit } = this.#parts
    const work = async (session: Session) => {
      const written = await session.update(systemStorages.pushes, push.guid, setFields(fields))
      if (written.outcome !== 'written') throw notFound(push.guid)
      const comment = textIn(fields.comment)
      await audit.record(session, {
        ...{ category: 'applications', action: 'updated', guid: push.guid, name: push.application },
        before: { push: push.status, release: push.release },
        after: {
          ...{ push: fields.status ?? '', release: push.release, requested_by: push.by.username },
          ...(comment !== '' && { comment }),
        },
      })
      return documentOf(written.document)
    }
    return this.#shown(await transactAgain(database, work, { user: by }))
  }

  /** CONFLICT, and the push is over, where the cluster has another state than its plan. */
  async #checkState(push: PendingPush): Promise<void> {
    const { applications } = this.#parts
    const by = await this.#author(push)
    const plan = push.isRemoval
      ? await applications.planRemoval(push.application, by)
      : await applications.plan({ ...(await this.content(push.guid)) }, by)
    if (plan.state !== push.plan.state) await this.#outdated(push)
    refuse(plan, push.allowLoss)
  }

  async #outdated(push: PendingPush): Promise<never> {
    await this.#decide(push, { status: 'outdated' }, push.decidedBy ?? push.by)
    throw new QuoinError(
      'CONFLICT',
      `The cluster was changed since ${push.by.username} pushed. The push is over: ${push.by.username} pushes again, with a new plan.`,
    )
  }

  #release(push: PendingPush): Promise<Released | Preparing> {
    return this.#alone(push.guid, async () => this.#carryOut(await this.get(push.guid)))
  }

  /** As its author, who may have lost scopes since. What was carried out before a node was killed is not done again. */
  async #carryOut(push: PendingPush): Promise<Released | Preparing> {
    const { applications } = this.#parts
    const { state } = push.plan
    const options = { state, allowLoss: push.allowLoss, moveWaits: push.moveWaits }
    const by = push.decidedBy ?? push.by
    if (await this.#isReleased(push)) return this.#released(push, released(push.plan), by)
    const author = { ...(await this.#author(push)), ...(push.decidedBy && { approvedBy: push.decidedBy }) }
    try {
      if (push.isRemoval) {
        const removed = await applications.remove(push.application, options, author)
        return await this.#released(push, released(removed), by)
      }
      const done = await applications.push({ ...(await this.content(push.guid)) }, options, author)
      return 'preparing' in done ? done : await this.#released(push, done, by)
    } catch (error) {
      if (error instanceof QuoinError && error.details?.planned === false) return this.#outdated(push)
      throw error
    }
  }

  async #released(push: PendingPush, done: Released, by: Actor): Promise<Released> {
    await this.#decide(push, { status: 'released' }, by)
    return done
  }

  async #isReleased({ application, release, isRemoval, guid }: PendingPush): Promise<boolean> {
    const { applications } = this.#parts
    const known = await findOne(this.#session, systemStorages.applications, 'name', application)
    if (isRemoval) return known === undefined
    if (known === undefined || numberIn(known.release) !== release) return false
    const [now, pushed] = [await applications.released(application, release), await this.content(guid)]
    return JSON.stringify(now) === JSON.stringify(pushed)
  }

  /** With what the user holds now, and no more than the push was sent with. */
  async #author({ by, guid, agent, application }: PendingPush): Promise<Publisher> {
    const user = await this.#parts.access.activeUser(by.guid)
    if (!user)
      throw new QuoinError(
        'CONFLICT',
        `${by.username}, who pushed ${application}, is not active any more. Push it again.`,
      )
    const held = new Set(textsIn((await recordOf(this.#session, guid)).scopes))
    const scopes = holds(held, '*')
      ? user.scopes
      : new Set([...held].filter((scope) => holds(user.scopes, scope)))
    return {
      identity: { ...by, scopes, user: user.user, tokenGuid: '' },
      actor: by,
      deployer: {
        ...by,
        mayTakeAccountPages: holds(scopes, 'blueprints_account_pages'),
        lacks: (scope) => !holds(scopes, scope),
      },
      mayScript: holds(scopes, 'blueprinttemplates_script'),
      ...(agent !== '' && { agent }),
    }
  }

  #shown(record: JsonObject): PendingPush {
    const status = statusOf(record.status)
    const until = numberIn(record.until)
    return {
      guid: guidOf(record),
      application: textIn(record.application),
      release: numberIn(record.release),
      status: status === 'waiting' && until <= this.#parts.clock() ? 'expired' : status,
      isRemoval: record.is_removal === true,
      allowLoss: record.allow_loss === true,
      moveWaits: record.move_waits === true,
      plan: JSON.parse(textIn(record.plan)),
      by: actorIn(record.by),
      agent: textIn(record.agent),
      created: numberIn(record.created),
      until,
      decidedBy: record.decided_by === undefined ? undefined : actorIn(record.decided_by),
      comment: textIn(record.comment),
    }
  }
}

const underWay: readonly PushState[] = ['waiting', 'approved', 'released']

interface NewPush {
  readonly requested: Application
  readonly options: PushOptions
  readonly plan: ApplicationPlan
  readonly by: Publisher
  readonly isRemoval: boolean
}

function released(plan: ApplicationPlan): Released {
  return { ...plan, problems: [], movedWaits: 0 }
}

function waitingOf(waiting: PendingPush, verified?: readonly VerifiedBlueprint[]): Waiting {
  const { application, release } = waiting
  return { application, release, waiting, ...(verified && { verified }) }
}

/** A key acts for its user, who may be the author, and a decision is that of a person. */
function checkDecider({ by }: PendingPush, { guid, key }: Identity): void {
  if (key !== undefined)
    throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'An API key decides no push. Sign in as a user.')
  if (by.guid === guid)
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      'You have pushed this yourself: another user must approve it.',
    )
}

function checkWaiting({ status, decidedBy }: PendingPush): void {
  if (status === 'waiting') return
  const who = decidedBy === undefined ? '' : ` by ${decidedBy.username}`
  throw new QuoinError('CONFLICT', `The push does not wait any more: it is ${status}${who}.`)
}

async function recordOf(session: Session, guid: string): Promise<JsonObject> {
  const stored = await session.get(systemStorages.pushes, guid)
  if (!stored) throw notFound(guid)
  return documentOf(stored)
}

function notFound(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `There is no push ${JSON.stringify(guid)}.`)
}

/** The oldest that are decided go. CONFLICT where too many wait. */
async function makeRoom(session: Session, now: number): Promise<void> {
  const found = await findAll(session, systemStorages.pushes, matchAll, 2 * MOST_PUSHES)
  const byAge = found.toSorted((a, b) => numberIn(a.created) - numberIn(b.created))
  const isOpen = ({ status, until }: JsonObject) =>
    status === 'approved' || (status === 'waiting' && numberIn(until) > now)
  const over = byAge.filter((record) => !isOpen(record))
  for (const record of over.slice(0, Math.max(0, found.length - MOST_PUSHES + 1))) {
    const content = await findOne(session, systemStorages.pushContents, 'push', guidOf(record))
    if (content) await session.delete(systemStorages.pushContents, guidOf(content))
    await session.delete(systemStorages.pushes, guidOf(record))
  }
  if (found.filter(isOpen).length >= MOST_WAITING)
    throw new QuoinError(
      'CONFLICT',
      `${MOST_WAITING} pushes wait for approval. Decide or withdraw some first.`,
    )
}

function statusOf(status: JsonObject[string] | undefined): PushState {
  switch (status) {
    case 'waiting':
    case 'approved':
    case 'released':
    case 'rejected':
    case 'withdrawn':
      return status
    default:
      return 'outdated'
  }
}

function actorOf({ guid, username }: Identity) {
  return { guid, username }
}

function actorIn(by: JsonObject[string] | undefined): Actor {
  const { guid, username } = isJsonObject(by) ? by : {}
  return { guid: textIn(guid), username: textIn(username) }
}

/** It is decided in the studio. */
function taskOf(push: PendingPush): Task {
  const { guid, application, release, isRemoval, plan, by, created, until } = push
  const what = isRemoval ? `Removal of ${application}` : `Release ${release} of ${application}`
  return {
    ...{ guid, title: what, text: `${by.username}: ${plan.steps.slice(0, 20).join(', ')}` },
    ...{ blueprint: '', created: Math.floor(created / 1000), until: Math.floor(until / 1000) },
    page: `/studio/blueprints/applications/pushes/${guid}`,
  }
}
