/** Releases as they are stored: the record of an application, one of each release, and apart from it what the release holds. */
import type { Actor } from '../records/records.ts'
import type { StorageContext } from '../records/storage-records.ts'
import { type Application, nameOfApplication, normalSteps } from '../shared/application/application.ts'
import { writingSteps } from '../shared/application/application-files.ts'
import { pauses, runCooperatively } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { OwnedObjects } from './present-application.ts'

/** That are listed. */
const MOST_RELEASES = 1_000
/** Removed blueprints whose guids an application remembers: the newest. */
const MOST_FORMER = 1_000
/** Read at once to be removed: what a release holds has some megabytes. */
const REMOVED_AT_ONCE = 4

export async function ensureReleases(database: Database): Promise<void> {
  await database.ensure(systemStorages.applications, { indexes: [{ fields: ['name'], unique: true }] })
  const byNumber = { indexes: [{ fields: ['application', 'number'], unique: true }] }
  await database.ensure(systemStorages.releases, byNumber)
  // Apart, because a list of releases does not need them.
  await database.ensure(systemStorages.releaseContents, byNumber)
}

/** The newest first. */
export async function releasesOf(session: Session, name: string): Promise<readonly JsonObject[]> {
  const query = { kind: 'term', field: 'application', value: name } as const
  const newest = { field: 'number', order: 'desc', missing: 'last' } as const
  return findAll(session, systemStorages.releases, query, MOST_RELEASES, [newest])
}

/** What a release holds. NOT_FOUND. */
export async function releaseContent(session: Session, name: string, number: number): Promise<Application> {
  const query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'application', value: name },
      { kind: 'term', field: 'number', value: number },
    ],
  } as const
  const [release] = await findAll(session, systemStorages.releaseContents, query, 1)
  if (!release) throw new QuoinError('NOT_FOUND', `The application ${name} has no release ${number}.`)
  return runCooperatively(normalSteps(JSON.parse(textIn(release.content))))
}

/** The record of the application, written first, so that no other push of it can begin before this one ends. */
export async function lockedRecord(session: Session, requested: Application): Promise<string> {
  const name = nameOfApplication(requested)
  const found = await findOne(session, systemStorages.applications, 'name', name)
  if (found) {
    await session.claims.lockDocuments(systemStorages.applications, [guidOf(found)], 'change')
    return guidOf(found)
  }
  const fields = { name, release: 0, objects: {}, about: {} }
  return guidOf(documentOf(await session.create(systemStorages.applications, setFields(fields))))
}

interface WrittenRelease {
  readonly guid: string
  readonly objects: OwnedObjects
  readonly requested: Application
  readonly plan: {
    readonly steps: readonly string[]
    readonly lost: readonly string[]
    readonly application: string
    readonly release: number
  }
  readonly by: Actor
  /** The API key whose draft it was, if any. */
  readonly agent?: string | undefined
  readonly approvedBy?: Actor | undefined
  readonly isFirst: boolean
  /** Guids of blueprints that are removed, and were before. */
  readonly former: Readonly<Record<string, string>>
  /** The job that writes first documents; empty: none is due. */
  readonly seeding: string
}

/** The record of the application with all of its releases. */
export async function removeReleases(
  session: Session,
  audit: StorageContext['audit'],
  { guid, plan, agent, approvedBy }: Pick<WrittenRelease, 'guid' | 'plan' | 'agent' | 'approvedBy'>,
): Promise<void> {
  const { application, release, steps, lost } = plan
  const query = { kind: 'term', field: 'application', value: application } as const
  const pause = pauses()
  for (const storage of [systemStorages.releases, systemStorages.releaseContents])
    for (;;) {
      const some = await findAll(session, storage, query, REMOVED_AT_ONCE)
      if (some.length === 0) break
      for (const record of some) {
        await pause()
        await session.delete(storage, guidOf(record))
      }
    }
  await session.delete(systemStorages.applications, guid)
  await audit.record(session, {
    category: 'applications',
    action: 'deleted',
    guid,
    name: application,
    before: { release, steps: [...steps], ...(lost.length > 0 && { lost: [...lost] }) },
    after:
      agent === undefined && approvedBy === undefined
        ? undefined
        : { ...(agent !== undefined && { agent }), ...(approvedBy && { approved_by: approvedBy.username }) },
  })
}

export async function writeRelease(
  session: Session,
  audit: StorageContext['audit'],
  { guid, objects, requested, plan, by, agent, approvedBy, isFirst, former, seeding }: WrittenRelease,
): Promise<void> {
  const { application, release: number, steps, lost } = plan
  const about = requested.about
  const author = { ...by }
  const title = { title: textIn(about.title), version: textIn(about.version) }
  const record = {
    ...{ release: number, seeding, former: Object.fromEntries(Object.entries(former).slice(-MOST_FORMER)) },
    objects: JSON.parse(JSON.stringify(objects)),
    offers: [...textsIn(about.offers)],
    uses: [...textsIn(about.uses)],
    ...title,
    modified_by: author,
  }
  await session.update(systemStorages.applications, guid, setFields(record))
  const content = JSON.stringify(requested)
  const files = (await runCooperatively(writingSteps(requested))).size
  const fields = {
    application,
    number,
    ...title,
    files,
    steps: [...steps],
    lost: [...lost],
    by: author,
  }
  await session.create(systemStorages.releases, setFields(fields))
  await session.create(systemStorages.releaseContents, setFields({ application, number, content }))
  await audit.record(session, {
    category: 'applications',
    action: isFirst ? 'created' : 'updated',
    guid,
    name: application,
    before: { release: number - 1, steps: [] },
    after: {
      release: number,
      steps: [...steps],
      ...(lost.length > 0 && { lost: [...lost] }),
      ...(agent !== undefined && { agent }),
      ...(approvedBy && { approved_by: approvedBy.username }),
    },
  })
}
