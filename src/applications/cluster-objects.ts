/** Connections, alerts, views and queues of an application: what is wrong with them, how the cluster has them, and how a release writes them. */
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Deployer } from '../flows/live/deploy-blueprint.ts'
import { checkAlert, openAlertRules } from '../records/alerts/alert-rules.ts'
import { checkConnection, openConnections } from '../records/connections/connections.ts'
import { removeDocument } from '../records/operations/stored-operations.ts'
import type { Actor } from '../records/records.ts'
import { createView, removeView, updateView } from '../records/saved-views.ts'
import { createViewSchema } from '../shared/api/data/views.ts'
import { createAlertSchema } from '../shared/api/operate/alerts.ts'
import { createConnectionSchema } from '../shared/api/operate/connections.ts'
import type { Application } from '../shared/application/application.ts'
import type { ObjectChange } from '../shared/application/application-changes.ts'
import { type ClusterMap, clusterMaps, wholeClusterObject } from '../shared/application/cluster-objects.ts'
import type { JsonPath } from '../shared/application/json-places.ts'
import type { Pause } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { SECRET_NAME } from '../shared/names/stored-names.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { queueNameProblem } from '../storage/job.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { type ReadDocument, writeDocument } from './connection-documents.ts'

const closed = { additionalProperties: false } as const
const { name: _connection, ...connection } = createConnectionSchema.properties
const { name: _alert, ...alert } = createAlertSchema.properties

/** What a file says of one, as the API takes it. */
export const clusterSchemas = {
  connections: Type.Object({ ...connection, document: Type.Optional(Type.String()) }, closed),
  alerts: Type.Object(alert, closed),
  views: Type.Object(
    {
      storage: Type.String({ description: 'A storage of the application.' }),
      address: createViewSchema.properties.address,
    },
    closed,
  ),
  queues: Type.Object(
    {
      concurrency: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100_000,
          description: 'Most jobs at once in the whole cluster.',
        }),
      ),
    },
    closed,
  ),
} as const

const readers = {
  connections: Compile(clusterSchemas.connections),
  alerts: Compile(clusterSchemas.alerts),
  views: Compile(clusterSchemas.views),
}

export interface ClusterProblem {
  readonly map: ClusterMap
  readonly object: string
  readonly path: JsonPath
  readonly message: string
}

/** What the schemas do not say. */
export function clusterProblems(application: Application): readonly ClusterProblem[] {
  return clusterMaps.flatMap((map) =>
    Object.entries(application[map]).flatMap(([object, value]): ClusterProblem[] => {
      const problem = nameProblem(map, object) ?? valueProblem(map, object, value, application)
      return problem === undefined ? [] : [{ map, object, ...problem }]
    }),
  )
}

type Problem = Pick<ClusterProblem, 'path' | 'message'>

function nameProblem(map: ClusterMap, name: string): Problem | undefined {
  if (map === 'queues') {
    const problem = queueNameProblem(name)
    return problem === undefined ? undefined : { path: [], message: `The name of a queue ${problem}.` }
  }
  const isName =
    map === 'views' ? name.trim() !== '' && name.length <= 100 : new RegExp(SECRET_NAME).test(name)
  if (isName) return undefined
  const rule =
    map === 'views'
      ? 'has 1 to 100 characters'
      : 'begins with a letter and has letters, digits and _, at most 63'
  return { path: [], message: `The name ${JSON.stringify(name.slice(0, 120))} ${rule}.` }
}

function valueProblem(
  map: ClusterMap,
  name: string,
  value: JsonObject,
  { storages }: Application,
): Problem | undefined {
  try {
    if (map === 'connections') checkConnection(connectionIn(value))
    if (map === 'alerts') checkAlert({ name, ...readers.alerts.Parse(value) })
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { path: error.fields?.[0]?.split('.') ?? [], message: error.message }
  }
  const storage = textIn(value.storage)
  if (map !== 'views' || storages[storage] !== undefined) return undefined
  return { path: ['storage'], message: `The application has no storages/${storage}.json.` }
}

/** Names of secrets that they send somewhere. */
export function secretsOfCluster({ connections, alerts }: Application): readonly string[] {
  const auths = Object.values(connections).map(({ auth }) => (isJsonObject(auth) ? auth.secret : undefined))
  return [...auths, ...Object.values(alerts).map(({ secret }) => secret)].flatMap((name) =>
    typeof name === 'string' && name !== '' ? [name] : [],
  )
}

/** As the API takes it: its document is stored beside it. */
function connectionIn(value: JsonObject) {
  const { document: _, ...input } = readers.connections.Parse(value)
  return input
}

const storagesOf = {
  connections: systemStorages.connections,
  alerts: systemStorages.alerts,
  views: systemStorages.views,
} as const

/** The record of an object by what the application knows it by: its guid; of a queue, which is no document, its name. */
export async function ownedClusterRecord(
  database: Database,
  session: Session,
  map: ClusterMap,
  guid: string,
): Promise<JsonObject | undefined> {
  if (map === 'queues') return queueRecord(database, guid)
  const stored = await session.get(storagesOf[map], guid)
  return stored && documentOf(stored)
}

async function queueRecord(database: Database, name: string): Promise<JsonObject> {
  const queue = (await database.capabilities.queues.list()).find((one) => one.name === name)
  return { name, concurrency: queue?.concurrency ?? null, _meta: { guid: name } }
}

/** Those of the name that an application may take. A queue is there as soon as anything names it. */
export async function namedClusterRecords(
  database: Database,
  session: Session,
  map: ClusterMap,
  { name, value }: { readonly name: string; readonly value: JsonObject },
): Promise<readonly JsonObject[]> {
  if (map === 'queues') {
    const queue = await queueRecord(database, name)
    return queue.concurrency === null ? [] : [queue]
  }
  const named = { kind: 'term', field: 'name', value: name } as const
  if (map !== 'views') return findAll(session, storagesOf[map], named, 10)
  const shared = { kind: 'term', field: 'shared', value: true } as const
  const ofStorage = { kind: 'term', field: 'storage', value: textIn(value.storage) } as const
  return findAll(session, storagesOf.views, { kind: 'and', queries: [named, shared, ofStorage] }, 10)
}

interface ClusterWrites {
  readonly database: Database
  readonly changes: readonly ObjectChange[]
  readonly present: Application
  readonly requested: Application
  readonly objects: Record<ClusterMap, Record<string, string>>
  readonly by: { readonly actor: Actor; readonly deployer: Pick<Deployer, 'lacks'> }
  readonly read: ReadDocument
  /** Between two: a thousand connections took 0.1 s in one turn. */
  readonly pause: Pause
}

/** Those that are new or change. Queues change when the release is live: they are no documents. */
export async function writeClusterObjects(writes: ClusterWrites): Promise<void> {
  await writeNamed(writes, 'connections')
  await writeNamed(writes, 'alerts')
  const { database, changes, present, requested, objects, by, pause } = writes
  const viewer = { ...by.actor, manages: true }
  for (const { map, object, change } of changes) {
    if (change === 'removed') continue
    if (map === 'queues') objects.queues[object] = object
    if (map !== 'views') continue
    await pause()
    const { storage, address } = readers.views.Parse(requested.views[object])
    const before = textIn(present.views[object]?.storage)
    const view = objects.views[object]
    if (view !== undefined && before === storage)
      await updateView(database, { storage, view }, { address }, viewer)
    else {
      if (view !== undefined) await removeView(database, { storage: before, view }, viewer)
      const input = { name: object, shared: true, address }
      objects.views[object] = guidOf(await createView(database, storage, input, viewer))
    }
  }
}

/** Records that each node keeps in memory: they are read again when the release is live. */
async function writeNamed(
  { database, changes, present, requested, objects, by, read, pause }: ClusterWrites,
  map: 'connections' | 'alerts',
): Promise<void> {
  const own = changes.filter((one) => one.map === map && one.change !== 'removed')
  if (own.length === 0) return
  const { lacks } = by.deployer
  const inputOf = (object: string) => wholeClusterObject(map, requested[map][object] ?? {})
  if (map === 'connections') {
    const records = await openConnections(database)
    try {
      for (const one of own) {
        await pause()
        const { object, change } = one
        const input = connectionIn(inputOf(object))
        if (change === 'created')
          objects[map][object] = guidOf(await records.create({ name: object, ...input }, by.actor, lacks))
        else await records.update(objects[map][object] ?? '', input, by.actor, lacks)
        await writeDocument({ database, present, requested, read, by: by.actor }, one)
      }
    } finally {
      records.close()
    }
    return
  }
  const records = await openAlertRules(database)
  try {
    for (const { object, change } of own) {
      await pause()
      const input: Static<typeof clusterSchemas.alerts> = readers.alerts.Parse(inputOf(object))
      if (change === 'created')
        objects[map][object] = guidOf(await records.create({ name: object, ...input }, by.actor, lacks))
      else await records.update(objects[map][object] ?? '', input, by.actor, lacks)
    }
  } finally {
    records.close()
  }
}

/** Before the storages go: a storage takes its views along. */
export async function removeClusterObjects({
  database,
  changes,
  present,
  objects,
  by,
  pause,
}: Omit<ClusterWrites, 'requested' | 'read'>): Promise<void> {
  const removed = (map: ClusterMap) => changes.filter((one) => one.map === map && one.change === 'removed')
  const viewer = { ...by.actor, manages: true }
  for (const { object } of removed('views')) {
    await pause()
    const storage = textIn(present.views[object]?.storage)
    await removeView(database, { storage, view: objects.views[object] ?? '' }, viewer)
    delete objects.views[object]
  }
  for (const [map, open] of [
    ['connections', openConnections],
    ['alerts', openAlertRules],
  ] as const) {
    const gone = removed(map)
    if (gone.length === 0) continue
    const records = await open(database)
    for (const { object } of gone) {
      await pause()
      await records.remove(objects[map][object] ?? '', by.actor)
      if (map === 'connections') await removeDocument(database, object, by.actor)
      delete objects[map][object]
    }
    records.close()
  }
  for (const { object } of removed('queues')) delete objects.queues[object]
}

/** What each queue that changes is to have. */
export function changedQueues(
  changes: readonly ObjectChange[],
  { queues }: Application,
): ReadonlyMap<string, number | null> {
  const own = changes.filter(({ map }) => map === 'queues')
  return new Map(
    own.map(({ object }) => {
      const concurrency = queues[object]?.concurrency
      return [object, typeof concurrency === 'number' ? concurrency : null]
    }),
  )
}
