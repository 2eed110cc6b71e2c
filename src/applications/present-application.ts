/** The state of an application in a cluster, as the value that its folder has. */
import { folded } from '../access/visible-text.ts'
import { candidateBlocks, changeOf } from '../flows/blueprints/staged-content.ts'
import { areSame } from '../flows/live/block-differences.ts'
import type { DeployParts } from '../flows/live/deploy-blueprint.ts'
import { migrationIn } from '../records/fields/field-migration.ts'
import { MAX_FIELDS } from '../records/fields/field-rules.ts'
import { blockRecords, getRecord, type RecordContext } from '../records/records.ts'
import { type Application, normalSteps } from '../shared/application/application.ts'
import { type PushedMap, pushedMaps } from '../shared/application/application-changes.ts'
import { partKinds, partOf, partPaths } from '../shared/application/application-parts.ts'
import {
  type BlueprintFile,
  exportBlueprint,
  type ImportedBlueprint,
} from '../shared/application/blueprint-file.ts'
import {
  type ClusterMap,
  clusterMaps,
  clusterObjectOf,
  isClusterMap,
  isOneFileMap,
} from '../shared/application/cluster-objects.ts'
import { type FindRecords, readParts } from '../shared/application/read-parts.ts'
import type { Block } from '../shared/blueprint.ts'
import type { BlueprintNote } from '../shared/blueprint-note.ts'
import { pauses, runCooperatively } from '../shared/cooperative.ts'
import { isJsonObject, type JsonObject, namedObject } from '../shared/json.ts'
import { blockNames } from '../shared/names/block-name.ts'
import { matchAll, type Query } from '../shared/query.ts'
import { normalizedText } from '../shared/texts/normalized-text.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn, textsIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { textsOf } from './application-texts.ts'
import { namedClusterRecords, ownedClusterRecord } from './cluster-objects.ts'
import { withDocument } from './connection-documents.ts'

/** Guids by the names of files. */
export type OwnedObjects = Readonly<Record<PushedMap, Readonly<Record<string, string>>>>

export interface PresentBlueprint {
  readonly record: JsonObject
  /** With those that are only staged. */
  readonly blockRecords: readonly JsonObject[]
  /** Whether what is saved is deployed and active. */
  readonly isServed: boolean
  /** Blocks with changes that are not saved. */
  readonly staged: number
}

export interface PresentApplication {
  /** Without what only a release has: `about`, seeds and tests. */
  readonly application: Application
  readonly objects: OwnedObjects
  /** Those among them that belonged to no application until now: `storages/deals.json`. */
  readonly adopted: readonly string[]
  /** What another application owns, and the push would take: a line each. */
  readonly clashes: readonly string[]
  /** Records of fields by storage and name, also of requested storages that are not there. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  /** The same of fields that a push has begun to make: no release has them. */
  readonly ahead: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  readonly blueprints: Readonly<Record<string, PresentBlueprint>>
  /** Guids of blueprints that a release has removed. One that comes back has its own again. */
  readonly former: Readonly<Record<string, string>>
  /** Hashes of all records: another text where anything was changed. */
  readonly hashes: readonly string[]
}

export interface PresentOptions {
  readonly parts: Pick<DeployParts, 'context' | 'deployed'>
  readonly session: Session
  readonly owned: OwnedObjects
  readonly former: PresentApplication['former']
  /** Its objects that belong to no application are among the present ones. */
  readonly requested: Application
  /** Names of applications by the guids of what they own. */
  readonly owners: ReadonlyMap<string, string>
}

export const nothingOwned: OwnedObjects = ownedObjectsIn(undefined)

/** As the record of an application has them. */
export function ownedObjectsIn(objects: unknown): OwnedObjects {
  const map = (name: PushedMap) => {
    const input = isJsonObject(objects) ? objects[name] : undefined
    return Object.fromEntries(
      Object.entries(isJsonObject(input) ? input : {}).map(([key, guid]) => [key, textIn(guid)]),
    )
  }
  return {
    ...{ blueprints: map('blueprints'), storages: map('storages'), groups: map('groups') },
    ...{
      templates: map('templates'),
      texts: map('texts'),
      connections: map('connections'),
      alerts: map('alerts'),
    },
    ...{ views: map('views'), queues: map('queues') },
  }
}

export async function presentApplication(options: PresentOptions): Promise<PresentApplication> {
  const { session } = options
  const found: Record<PushedMap, Record<string, JsonObject>> = {
    ...{ blueprints: {}, storages: {}, groups: {}, templates: {}, texts: {} },
    ...{ connections: {}, alerts: {}, views: {}, queues: {} },
  }
  const [adopted, clashes]: [string[], string[]] = [[], []]
  for (const map of pushedMaps)
    for (const [object, record] of await recordsOf(options, map, adopted, clashes))
      found[map][object] = record
  const { database } = options.parts.context
  for (const [name, record] of Object.entries(found.connections))
    found.connections[name] = await withDocument(database, session, name, record)
  const fields: Record<string, Record<string, JsonObject>> = {}
  const ahead: Record<string, Record<string, JsonObject>> = {}
  const pause = pauses()
  // Fields are of a name: those of a storage that was deleted are there yet.
  for (const name of new Set([...Object.keys(found.storages), ...Object.keys(options.requested.storages)])) {
    await pause()
    const records = await fieldRecords(session, name)
    fields[name] = byName(records.filter((record) => !isAhead(record)))
    ahead[name] = byName(records.filter(isAhead))
  }
  const blueprints: Record<string, PresentBlueprint> = {}
  const files: Record<string, JsonObject> = {}
  for (const [object, record] of Object.entries(found.blueprints)) {
    const { file, ...present } = await readBlueprint(options, record)
    blueprints[object] = present
    files[object] = file
  }
  const application = await runCooperatively(
    normalSteps({
      blueprints: files,
      storages: mapped(found.storages, (storage, name) => storageOf(storage, fields[name] ?? {})),
      groups: mapped(found.groups, groupOf),
      templates: mapped(found.templates, (template) => template),
      texts: mapped(found.texts, textsOf),
      connections: mapped(found.connections, (record) => clusterObjectOf('connections', record)),
      alerts: mapped(found.alerts, (record) => clusterObjectOf('alerts', record)),
      views: mapped(found.views, (record) => clusterObjectOf('views', record)),
      queues: mapped(found.queues, (record) => clusterObjectOf('queues', record)),
    }),
  )
  const objects = ownedObjectsIn(
    Object.fromEntries(pushedMaps.map((map) => [map, mapped(found[map], guidOf)])),
  )
  const hashes = hashesOf(found, fields, blueprints)
  const { former } = options
  return { application, objects, adopted, clashes, fields, ahead, blueprints, former, hashes }
}

/** Another text where anything was changed. */
function hashesOf(
  found: Readonly<Record<PushedMap, Readonly<Record<string, JsonObject>>>>,
  fields: PresentApplication['fields'],
  blueprints: PresentApplication['blueprints'],
): readonly string[] {
  const records = [
    ...pushedMaps.flatMap((map) => (isClusterMap(map) || map === 'texts' ? [] : Object.values(found[map]))),
    ...Object.values(blueprints).flatMap((one) => one.blockRecords),
  ]
  // Not of their records, which also tell how far documents have followed a change: a push would make its own plan invalid.
  const ofFields = Object.values(fields).flatMap((one) =>
    Object.values(one).map((record) => `${guidOf(record)} ${JSON.stringify(partOf('fields', record))}`),
  )
  // An alert that fires is no other alert.
  const ofCluster = clusterMaps.flatMap((map) =>
    Object.values(found[map]).map(
      (record) => `${guidOf(record)} ${JSON.stringify(clusterObjectOf(map, record))}`,
    ),
  )
  // Which blueprints read them is no part of what they say.
  const ofTexts = Object.values(found.texts).map(
    (record) => `${guidOf(record)} ${JSON.stringify(textsOf(record))}`,
  )
  return [...records.map(hashOf), ...ofFields, ...ofCluster, ...ofTexts].sort()
}

function mapped<T>(
  objects: Readonly<Record<string, JsonObject>>,
  map: (record: JsonObject, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(objects).map(([name, record]) => [name, map(record, name)]))
}

function hashOf(record: JsonObject): string {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  return `${textIn(meta.guid)} ${textIn(meta.update_hash)}`
}

const storagesOf: Readonly<Record<Exclude<PushedMap, ClusterMap>, string>> = {
  groups: systemStorages.groups,
  storages: systemStorages.storages,
  templates: systemStorages.templates,
  blueprints: systemStorages.blueprints,
  texts: systemStorages.texts,
}

/** What the application owns, and what the folder names and none owns. */
async function recordsOf(
  { parts, session, owned, requested, owners }: PresentOptions,
  map: PushedMap,
  adopted: string[],
  clashes: string[],
): Promise<readonly (readonly [object: string, record: JsonObject])[]> {
  const found = new Map<string, JsonObject>()
  const pause = pauses()
  for (const [object, guid] of Object.entries(owned[map])) {
    await pause()
    const record = await ownedRecord(parts.context.database, session, map, guid)
    if (record) found.set(object, record)
  }
  const taken = new Set([...found.values()].map(guidOf))
  // Texts are of their application alone.
  if (map === 'texts') return [...found]
  for (const [object, value] of Object.entries(requested[map])) {
    if (found.has(object)) continue
    await pause()
    const name = map === 'blueprints' || map === 'templates' ? textIn(value.name) : object
    const named = isClusterMap(map)
      ? await namedClusterRecords(parts.context.database, session, map, { name, value })
      : await recordsNamed(session, map, name)
    const [record] = named.filter((one) => !taken.has(guidOf(one)))
    if (!record) continue
    const file = isOneFileMap(map) ? `${map}.json: ${object}` : `${map}/${object}.json`
    const owner = owners.get(guidOf(record))
    if (owner !== undefined) clashes.push(`${file}: ${name} belongs to the application ${owner}.`)
    else if (named.length > 1)
      clashes.push(`${file}: ${named.length} of them are named ${name}. Rename the others.`)
    else {
      adopted.push(file)
      found.set(object, record)
    }
  }
  return [...found]
}

async function ownedRecord(
  database: Database,
  session: Session,
  map: PushedMap,
  guid: string,
): Promise<JsonObject | undefined> {
  if (isClusterMap(map)) return ownedClusterRecord(database, session, map, guid)
  const stored = await session.get(storagesOf[map], guid)
  return stored && documentOf(stored)
}

function recordsNamed(
  session: Session,
  map: Exclude<PushedMap, ClusterMap | 'texts'>,
  name: string,
): Promise<JsonObject[]> {
  const [field, value] = {
    storages: ['name', name],
    groups: ['name_key', folded(name)],
    templates: ['name_key', normalizedText(name, 'NFKC').toLowerCase()],
    blueprints: ['name', name],
  }[map] as [string, string]
  return findAll(session, storagesOf[map], { kind: 'term', field, value }, 10)
}

function fieldRecords(session: Session, storage: string): Promise<readonly JsonObject[]> {
  const query = { kind: 'term', field: 'storage', value: storage } as const
  return findAll(session, systemStorages.fields, query, MAX_FIELDS)
}

function isAhead(record: JsonObject): boolean {
  return migrationIn(record)?.preparation?.isNew === true
}

function byName(records: readonly JsonObject[]): Record<string, JsonObject> {
  return namedObject(records.map((record) => [textIn(record.name), record] as const))
}

function storageOf(record: JsonObject, fields: Readonly<Record<string, JsonObject>>): JsonObject {
  const { name: _, ...storage } = partOf('storages', record)
  return { ...storage, fields: mapped(fields, fieldOf) }
}

/** As the file has it: its storage and name are where it stands. */
export function fieldOf(record: JsonObject): JsonObject {
  const { name: _name, storage: _storage, ...field } = partOf('fields', record)
  return field
}

function groupOf(record: JsonObject): JsonObject {
  const { name: _, ...group } = partOf('groups', record)
  return { ...group, scopes: [...textsIn(record.scopes)] }
}

async function readBlueprint(
  { parts: { context, deployed }, session }: PresentOptions,
  record: JsonObject,
): Promise<PresentBlueprint & { readonly file: JsonObject }> {
  const pause = pauses()
  const records = await blockRecords(session, guidOf(record), pause)
  const blocks: Block[] = []
  for (const one of records) {
    if (one.is_created === true) blocks.push({ guid: guidOf(one), ...context.readContent(one) })
    await pause()
  }
  const file = exportBlueprint(contentOf(record, blocks))
  const now = await deployed(session, record)
  return {
    record,
    blockRecords: records,
    isServed: record.active === true && !now.isUnreadable && (await areSame(now.blocks, blocks, pause)),
    staged: records.filter((one) => changeOf(one) !== undefined).length,
    file: plain(file),
  }
}

function contentOf(record: JsonObject, blocks: readonly Block[]): ImportedBlueprint {
  return {
    name: textIn(record.name),
    description: textIn(record.description),
    category: textIn(record.category),
    tags: textsIn(record.tags),
    blocks,
    notes: notesIn(record),
  }
}

export interface DrawnBlueprint {
  readonly name: string
  /** That it belongs to; empty: none. */
  readonly application: string
  /** Of the whole application. Of a blueprint of its own: itself and its groups. */
  readonly content: Application
  /** Of a blueprint of its own: its file with what its blocks use. */
  readonly file: JsonObject | undefined
  /** Guids of blocks by the names that files give them. */
  readonly guids: ReadonlyMap<string, string>
}

/** A blueprint as the canvas has it: with all that is staged. `read`: an application as the cluster has it. */
export async function drawnBlueprint(
  context: RecordContext,
  guid: string,
  applications: readonly JsonObject[],
  read: (application: string) => Promise<Application>,
): Promise<DrawnBlueprint> {
  const session = context.database.session()
  const record = await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
  const blocks = await candidateBlocks(context, guid, 'staged')
  const drawn = {
    name: textIn(record.name),
    guids: new Map([...blockNames(blocks)].map(([block, name]) => [name, block])),
  }
  for (const { name, objects } of applications)
    for (const [object, owned] of Object.entries(ownedObjectsIn(objects).blueprints))
      if (owned === guid) {
        const application = textIn(name)
        const present = await read(application)
        const file = plain(exportBlueprint(contentOf(record, blocks)))
        const blueprints = { ...present.blueprints, [object]: file }
        const content = await runCooperatively(normalSteps({ ...present, blueprints }))
        return { ...drawn, application, content, file: undefined }
      }
  const { parts } = await readParts(recordFinder(session), blocks)
  const file = plain(exportBlueprint(contentOf(record, blocks), { parts }))
  const groups = namedObject(parts.groups.map((group) => [textIn(group.name), group] as const))
  const content = await runCooperatively(normalSteps({ blueprints: { [FILE]: file }, groups }))
  return { ...drawn, application: '', content, file }
}

/** Of a blueprint without an application, among the objects of one. */
const FILE = 'drawn'

/** As the API finds the parts of a blueprint's file. */
function recordFinder(session: Session): FindRecords {
  const storages = new Map(partKinds.map((kind) => [`${partPaths[kind]}/search`, systemStorages[kind]]))
  return async (path, { filters, limit }) => {
    const storage = storages.get(path)
    if (storage === undefined) return undefined
    const [term] = Object.entries(isJsonObject(filters) ? filters : {})
    const query: Query = term ? { kind: 'term', field: term[0], value: textIn(term[1]) } : matchAll
    return findAll(session, storage, query, numberIn(limit))
  }
}

/** Without what is undefined. */
function plain(file: BlueprintFile): JsonObject {
  return JSON.parse(JSON.stringify(file))
}

function notesIn({ notes }: JsonObject): BlueprintNote[] {
  return objectsIn(notes).map((note): BlueprintNote => {
    const { position, size, collapsed } = note
    const [at, of] = [isJsonObject(position) ? position : {}, isJsonObject(size) ? size : {}]
    return {
      id: textIn(note.id),
      kind: note.kind === 'group' ? 'group' : 'note',
      text: textIn(note.text),
      color: textIn(note.color),
      position: { x: Number(at.x), y: Number(at.y) },
      size: { width: Number(of.width), height: Number(of.height) },
      ...(isJsonObject(collapsed) && {
        collapsed: { inside: textsIn(collapsed.inside), lane: collapsed.lane === true },
      }),
    }
  })
}
