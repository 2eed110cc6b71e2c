/** Pushes that wait for a second person, as they are stored: a record of each, and apart from it what it holds. */
import type { Identity } from '../access/identity-cache.ts'
import type { AuditLog } from '../records/audit-log.ts'
import type { Actor } from '../records/records.ts'
import type { Application } from '../shared/application/application.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, type Query } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'
import type { Publisher } from './apply-release.ts'
import type { ApplicationPlan } from './known-application.ts'
import { digestOf, type PushOptions } from './known-application.ts'
import type { VerifiedBlueprint } from './verified-push.ts'

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
  /** What was compared before it began to wait; undefined where it was not asked for. */
  readonly verified: readonly VerifiedBlueprint[] | undefined
  readonly by: Actor
  readonly agent: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly until: number
  readonly decidedBy: Actor | undefined
  readonly comment: string
}

export interface PushRecords {
  readonly database: Database
  readonly audit: Pick<AuditLog, 'record'>
  readonly clock: Clock
}

export async function ensurePushes(database: Database): Promise<void> {
  await database.ensure(systemStorages.pushes, { indexes: [{ fields: ['status'] }] })
  await database.ensure(systemStorages.pushContents, { indexes: [{ fields: ['push'], unique: true }] })
}

export async function pushesFound({ database, clock }: PushRecords, query: Query): Promise<PendingPush[]> {
  const found = await findAll(database.session(), systemStorages.pushes, query, 2 * MOST_PUSHES)
  return found.map((record) => shownPush(record, clock()))
}

const underWay: readonly PushState[] = ['waiting', 'approved', 'released']

interface NewPush {
  readonly requested: Application
  readonly options: PushOptions
  readonly plan: ApplicationPlan
  readonly by: Publisher
  readonly isRemoval: boolean
  readonly verified?: readonly VerifiedBlueprint[] | undefined
}

export async function waitingPushes(records: PushRecords): Promise<readonly PendingPush[]> {
  const query = { kind: 'term', field: 'status', value: 'waiting' } as const
  return (await pushesFound(records, query)).filter(({ status }) => status === 'waiting')
}

/**
 * The same pushes of the same user that did not end without a release, of a cluster in the same state. That has the number of the
 * release, which begins again when an application was removed: what was released may not be there any more.
 */
export async function samePushes(
  records: PushRecords,
  requested: Application,
  options: PushOptions,
  by: Actor,
): Promise<readonly PendingPush[]> {
  const query = { kind: 'term', field: 'digest', value: digestOf(requested, options) } as const
  const found = await pushesFound(records, query)
  return found.filter(({ by: author, status }) => author.guid === by.guid && underWay.includes(status))
}

export async function storePush(
  records: PushRecords,
  { requested, options, plan, by, isRemoval, verified }: NewPush,
): Promise<PendingPush> {
  const { database, audit, clock } = records
  const now = clock()
  const fields = {
    ...{ application: plan.application, release: plan.release, status: 'waiting' },
    digest: digestOf(requested, options),
    ...{ is_removal: isRemoval, allow_loss: options.allowLoss, move_waits: options.moveWaits === true },
    plan: JSON.stringify({ ...plan, changes: [] }),
    ...(verified && { verified: JSON.stringify(verified) }),
    ...{ by: { ...by.actor }, scopes: [...by.identity.scopes], agent: by.agent ?? '' },
    ...{ draft: by.draft?.guid ?? '', draft_hash: by.draft?.updateHash ?? '' },
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
  return database.capabilities.withClusterLock(systemStorages.pushes, async () => {
    // The same push, sent twice at once, is one.
    const same = await samePushes(records, requested, options, by.actor)
    const known = same.find((one) => one.status === 'waiting' && one.isRemoval === isRemoval)
    return known ?? shownPush(await transactAgain(database, work, { user: by.actor }), now)
  })
}

/** The same push from a draft: the draft goes with its release. */
export async function withDraft(
  records: PushRecords,
  push: PendingPush,
  { actor, draft, agent = '' }: Publisher,
): Promise<PendingPush> {
  const now = records.clock()
  if (!draft || push.status !== 'waiting') return push
  const fields = setFields({ draft: draft.guid, draft_hash: draft.updateHash, agent })
  const work = (session: Session) => session.update(systemStorages.pushes, push.guid, fields)
  const written = await transactAgain(records.database, work, { user: actor })
  return written.outcome === 'written' ? shownPush(documentOf(written.document), now) : push
}

export async function decidePush(
  records: PushRecords,
  push: PendingPush,
  fields: JsonObject,
  by: Actor,
): Promise<PendingPush> {
  const { database, audit } = records
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
  return shownPush(await transactAgain(database, work, { user: by }), records.clock())
}

export function shownPush(record: JsonObject, now: number): PendingPush {
  const status = statusOf(record.status)
  const until = numberIn(record.until)
  return {
    guid: guidOf(record),
    application: textIn(record.application),
    release: numberIn(record.release),
    status: isPending(status) && until <= now ? 'expired' : status,
    isRemoval: record.is_removal === true,
    allowLoss: record.allow_loss === true,
    moveWaits: record.move_waits === true,
    plan: { values: [], movableWaits: 0, ...JSON.parse(textIn(record.plan)) },
    verified: record.verified === undefined ? undefined : JSON.parse(textIn(record.verified)),
    by: actorIn(record.by),
    agent: textIn(record.agent),
    created: numberIn(record.created),
    until,
    decidedBy: record.decided_by === undefined ? undefined : actorIn(record.decided_by),
    comment: textIn(record.comment),
  }
}

export async function pushRecord(session: Session, guid: string): Promise<JsonObject> {
  const stored = await session.get(systemStorages.pushes, guid)
  if (!stored) throw notFound(guid)
  return documentOf(stored)
}

export async function pushContent(session: Session, guid: string): Promise<JsonObject> {
  const stored = await findOne(session, systemStorages.pushContents, 'push', guid)
  return JSON.parse(textIn(stored?.content) || '{}')
}

function notFound(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `There is no push ${JSON.stringify(guid)}.`)
}

/** The oldest that are decided go. CONFLICT where too many wait. */
async function makeRoom(session: Session, now: number): Promise<void> {
  const found = await findAll(session, systemStorages.pushes, matchAll, 2 * MOST_PUSHES)
  const byAge = found.toSorted((a, b) => numberIn(a.created) - numberIn(b.created))
  const isOpen = ({ status, until }: JsonObject) => isPending(statusOf(status)) && numberIn(until) > now
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

/** It may be released yet. */
function isPending(status: PushState): boolean {
  return status === 'waiting' || status === 'approved'
}

/** What an approval stores. Values that follow have the time that the decision had. */
export function approvedNow({ clock }: Pick<PushRecords, 'clock'>, decided_by: JsonObject): JsonObject {
  return { status: 'approved', decided_by, until: clock() + WAITS_MS }
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

export function actorOf({ guid, username }: Identity) {
  return { guid, username }
}

function actorIn(by: JsonObject[string] | undefined): Actor {
  const { guid, username } = isJsonObject(by) ? by : {}
  return { guid: textIn(guid), username: textIn(username) }
}
