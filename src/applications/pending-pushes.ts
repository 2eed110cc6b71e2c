/**
 * Pushes that a second person must approve, where a setting of the cluster asks for it. A push is stored with its content and plan:
 *
 *   waiting → approved → released      by another user, who approves this plan; then it is released as its author would do it
 *           → rejected, withdrawn      by another user; by its author; also when it is approved and cannot be released
 *           → expired                  without a decision for three days, or when it is not released three days after its approval
 *           → outdated                 the cluster was changed since the plan: its author pushes again
 *
 * The request that approves does the rest. A node that is killed meanwhile leaves the push waiting or approved: the next approval, or the same
 * push once more, goes on from there. One request at a time works on a push.
 */
import type { Access } from '../access/access.ts'
import type { Identity } from '../access/identity-cache.ts'
import { holds } from '../access/scopes.ts'
import type { Actor } from '../records/records.ts'
import type { Task } from '../shared/api/operate/waits.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { matchAll } from '../shared/query.ts'
import type { Session } from '../storage/database.ts'
import { numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { Applications } from './applications.ts'
import type { Publisher } from './apply-release.ts'
import type { ApplicationPlan, Preparing, Released } from './known-application.ts'
import { checkOptions, checkPlan, type PushOptions, readApplication, refuse } from './known-application.ts'
import {
  actorOf,
  approvedNow,
  decidePush,
  ensurePushes,
  type PendingPush,
  type PushRecords,
  pushContent,
  pushesFound,
  pushRecord,
  samePushes,
  shownPush,
  storePush,
  waitingPushes,
  withDraft,
} from './stored-pushes.ts'
import type { VerifiedBlueprint } from './verified-push.ts'

export const APPROVE_SCOPE = 'applications_approve'

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
  remove(name: string, options: PushOptions, by: Publisher): Promise<ApplicationPlan | Preparing | Waiting>
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

export interface PendingParts extends PushRecords {
  readonly applications: Applications
  readonly access: Pick<Access, 'activeUser'>
  /** Names of applications that need a second person, or `*`. */
  readonly needed: () => readonly string[]
}

export async function openPendingPushes(parts: PendingParts): Promise<PendingPushes> {
  await ensurePushes(parts.database)
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
    const begun = await this.#begun(requested, options, { by, isRemoval: false })
    if (begun) return begun
    const plan = await applications.plan(input, by)
    checkPlan(plan, options)
    if (plan.steps.length === 0) return applications.push(input, options, by)
    const verified = await applications.verify(input, options, by)
    return waitingOf(
      await storePush(this.#parts, { requested, options, plan, by, isRemoval: false, verified }),
    )
  }

  async remove(name: string, options: PushOptions, by: Publisher) {
    const { applications } = this.#parts
    if (!this.#needsApproval(name)) return applications.remove(name, options, by)
    const requested = await readApplication({ about: { name } })
    const begun = await this.#begun(requested, options, { by, isRemoval: true })
    if (begun) return begun
    const plan = await applications.planRemoval(name, by)
    checkPlan(plan, options)
    return waitingOf(await storePush(this.#parts, { requested, options, plan, by, isRemoval: true }))
  }

  async list(): Promise<readonly PendingPush[]> {
    const found = await pushesFound(this.#parts, matchAll)
    return found.toSorted((a, b) => b.created - a.created)
  }

  async get(guid: string): Promise<PendingPush> {
    return shownPush(await pushRecord(this.#session, guid), this.#parts.clock())
  }

  async content(guid: string): Promise<Application> {
    await pushRecord(this.#session, guid)
    return readApplication(await pushContent(this.#session, guid))
  }

  async tasks({ guid, scopes }: Pick<Identity, 'guid' | 'scopes'>): Promise<readonly Task[]> {
    if (!holds(scopes, APPROVE_SCOPE)) return []
    return (await waitingPushes(this.#parts)).filter(({ by }) => by.guid !== guid).map(taskOf)
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
      checkOpen(push)
      const decided_by = actorOf(by)
      // Before anything is stored, so that an approval is never of a plan that the cluster no longer fits.
      await this.#checkState(push)
      return this.#carryOut(
        await decidePush(this.#parts, push, approvedNow(this.#parts, decided_by), decided_by),
      )
    })
  }

  reject(guid: string, comment: string, by: Identity): Promise<PendingPush> {
    return this.#alone(guid, async () => {
      const push = await this.get(guid)
      checkDecider(push, by)
      await this.#checkUnreleased(push)
      const decided_by = actorOf(by)
      return decidePush(this.#parts, push, { status: 'rejected', decided_by, comment }, decided_by)
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
      await this.#checkUnreleased(push)
      return decidePush(this.#parts, push, { status: 'withdrawn', decided_by: actorOf(by) }, actorOf(by))
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

  /** CONFLICT for one that is over; also where a node was killed between the release and its note. */
  async #checkUnreleased(push: PendingPush): Promise<void> {
    checkOpen(push)
    if (push.status !== 'approved' || !(await this.#isReleased(push))) return
    checkOpen(await decidePush(this.#parts, push, { status: 'released' }, push.decidedBy ?? push.by))
  }

  async #outdated(push: PendingPush): Promise<never> {
    await decidePush(this.#parts, push, { status: 'outdated' }, push.decidedBy ?? push.by)
    throw new QuoinError(
      'CONFLICT',
      `The cluster was changed since ${push.by.username} pushed. The push is over: ${push.by.username} pushes again, with a new plan.`,
    )
  }

  /** What the same push has come to, where it was sent before. One that was released and removed since is a new one. */
  async #begun(
    requested: Application,
    options: PushOptions,
    { by, isRemoval }: { readonly by: Publisher; readonly isRemoval: boolean },
  ): Promise<Released | Preparing | Waiting | undefined> {
    for (const push of await samePushes(this.#parts, requested, options, by.actor)) {
      if (push.isRemoval !== isRemoval) continue
      if (push.status === 'approved') return this.#release(push)
      if (push.status === 'waiting') return waitingOf(await withDraft(this.#parts, push, by))
      // The approval was faster.
      if (await this.#isReleased(push)) return released(push.plan)
    }
    return undefined
  }

  #release(push: PendingPush): Promise<Released | Preparing> {
    return this.#alone(push.guid, async () => {
      // Others may have decided while this waited for its turn.
      const now = await this.get(push.guid)
      if (now.status === 'released') return released(now.plan)
      checkOpen(now)
      return this.#carryOut(now)
    })
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
    await decidePush(this.#parts, push, { status: 'released' }, by)
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
    const record = await pushRecord(this.#session, guid)
    const held = new Set(textsIn(record.scopes))
    const draft = { guid: textIn(record.draft), updateHash: textIn(record.draft_hash) }
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
      ...(draft.guid !== '' && { draft }),
    }
  }
}

function released(plan: ApplicationPlan): Released {
  return { ...plan, problems: [], movedWaits: 0 }
}

function waitingOf(waiting: PendingPush): Waiting {
  const { application, release, verified } = waiting
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

function checkOpen({ status, decidedBy }: PendingPush): void {
  if (status === 'waiting' || status === 'approved') return
  const who = decidedBy === undefined ? '' : ` by ${decidedBy.username}`
  throw new QuoinError('CONFLICT', `The push does not wait any more: it is ${status}${who}.`)
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
