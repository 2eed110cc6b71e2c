/** Writes a release: all records of an application, by the services that the management API uses, in one joint transaction. */
import type { Access } from '../access/access.ts'
import type { Identity } from '../access/identity-cache.ts'
import { enqueuedServed, switchName } from '../flows/background/field-migrations.ts'
import { stageEdits } from '../flows/blueprints/block-edits.ts'
import { importBlueprint } from '../flows/blueprints/blueprint-file.ts'
import {
  createBlueprint,
  removeBlueprint,
  restoreBlueprint,
  updateBlueprint,
} from '../flows/blueprints/blueprint-records.ts'
import { saveStaged } from '../flows/blueprints/settle-staged.ts'
import {
  type Deployer,
  type DeployParts,
  deactivateBlueprint,
  deployBlueprint,
} from '../flows/live/deploy-blueprint.ts'
import { type LiveBlueprint, type LiveBlueprints, usersOf } from '../flows/live/live-blueprints.ts'
import { migrationIn, storedSettling } from '../records/fields/field-migration.ts'
import {
  createField,
  fieldDefaults,
  removeField,
  type UpdateOptions,
  updateField,
} from '../records/fields/field-records.ts'
import { fieldsIn } from '../records/fields/field-rules.ts'
import type { Actor } from '../records/records.ts'
import type { StorageContext } from '../records/storage-records.ts'
import { createStorage, removeStorage, updateStorage } from '../records/storage-records.ts'
import { createTemplate, removeTemplate, type TemplateAuthor, updateTemplate } from '../records/templates.ts'
import type { Application } from '../shared/application/application.ts'
import {
  type ObjectChange,
  type PushedMap,
  withoutConversion,
} from '../shared/application/application-changes.ts'
import { bodyOfPart, changeOfPart } from '../shared/application/application-parts.ts'
import { type Pause, pauses } from '../shared/cooperative.ts'
import type { Random } from '../shared/guid.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  namedObject,
  sameJson,
} from '../shared/json.ts'
import type { Session } from '../storage/database.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import type { JointWork } from '../storage/joint-database.ts'
import { writeTexts } from './application-texts.ts'
import { blockEdits, changesAbout } from './block-changes.ts'
import { removeClusterObjects, writeClusterObjects } from './cluster-objects.ts'
import type { ReadDocument } from './connection-documents.ts'
import { fieldOf, type OwnedObjects, type PresentApplication } from './present-application.ts'

/** Who pushes. */
export interface Publisher {
  readonly identity: Identity
  readonly actor: Actor
  readonly deployer: Deployer
  /** Whether the JavaScript of templates may change. */
  readonly mayScript: boolean
  /** The API key whose draft it is, where an agent made it. */
  readonly agent?: string
  /** That is removed with the release, unless it was changed since. */
  readonly draft?: { readonly guid: string; readonly updateHash: string }
  /** Where a second person had to. */
  readonly approvedBy?: Actor
}

export interface ReleaseParts {
  readonly deploy: DeployParts
  readonly access: Access
  readonly documents: StorageContext
  readonly random: Random
  readonly newGuid: () => string
}

export interface Applied {
  readonly objects: OwnedObjects
  /** What is to be served instead. */
  readonly served: ReadonlyMap<string, LiveBlueprint | undefined>
  /** As it will be. */
  readonly live: LiveBlueprints
}

interface Work {
  readonly parts: ReleaseParts
  readonly joint: JointWork
  readonly present: PresentApplication
  readonly requested: Application
  readonly by: Publisher
  readonly changes: readonly ObjectChange[]
  readonly read: ReadDocument
  readonly objects: Record<PushedMap, Record<string, string>>
  /** Between two records: the embedded engine answers within the turn, and 2,000 fields took seconds in one. */
  readonly pause: Pause
}

/** Errors are those of the services: the first that refuses ends it. */
export async function applyRelease(inputs: Omit<Work, 'objects' | 'pause'>): Promise<Applied> {
  const { blueprints, storages, groups, templates, texts, ...others } = inputs.present.objects
  const objects = {
    blueprints: { ...blueprints },
    storages: { ...storages },
    groups: { ...groups },
    templates: { ...templates },
    texts: { ...texts },
    connections: { ...others.connections },
    alerts: { ...others.alerts },
    views: { ...others.views },
    queues: { ...others.queues },
  }
  const work: Work = { ...inputs, objects, pause: pauses() }
  await writeGroups(work)
  await writeStorages(work)
  await writeTemplates(work)
  const { joint, present, requested, changes, by, read, pause } = work
  const cluster = {
    ...{ database: joint.database, changes, present: present.application, requested, objects, by },
    ...{ read, pause },
  }
  await writeClusterObjects(cluster)
  const { served, live } = await writeBlueprints(work)
  await removeClusterObjects(cluster)
  await removeObjects(work, live)
  await writeTexts(joint.database.session(), requested, objects)
  return { objects, served, live }
}

function changesOf({ changes }: Work, map: PushedMap, ...kinds: readonly ObjectChange['change'][]) {
  return changes.filter((one) => one.map === map && kinds.includes(one.change))
}

/** Its documents are opened by nothing here, and what follows a storage follows once it is committed. */
function contextOf({ parts: { documents, deploy }, joint: { database } }: Work): StorageContext {
  const { history } = documents
  const quiet = { ...history, refresh: async () => undefined, forget: async () => undefined }
  return { ...documents, records: { ...deploy.context, database }, history: quiet }
}

async function writeGroups(work: Work): Promise<void> {
  const { parts, joint, requested, by, objects, pause } = work
  const groups = parts.access.groupsIn(joint.database)
  for (const { object, change } of changesOf(work, 'groups', 'created', 'changed')) {
    await pause()
    const { description, scopes } = requested.groups[object] ?? {}
    const input = { name: object, description: textIn(description), scopes: textsIn(scopes) }
    if (change === 'created') objects.groups[object] = guidOf(await groups.createGroup(input, by.identity))
    else await groups.updateGroup(objects.groups[object] ?? '', input, by.identity)
  }
}

/** Storages without rules first, then fields, then the rules, which may lead through fields. */
async function writeStorages(work: Work): Promise<void> {
  const { requested, present, by, objects, pause } = work
  const context = contextOf(work)
  for (const { object } of changesOf(work, 'storages', 'created')) {
    await pause()
    objects.storages[object] = guidOf(await createStorage(context, { name: object }, by.actor))
    for (const field of leftFields(work, object))
      await removeField(context.records.database, guidOf(field), by.actor, prepared)
  }
  const written = changesOf(work, 'storages', 'created', 'changed')
  for (const { object } of written) await writeFields(work, object)
  for (const { object } of written) {
    await pause()
    const [before, after] = [present.application.storages[object], requested.storages[object]]
    const changes = changeOfPart('storages', settingsOf(before), settingsOf(after))
    if (changes) await updateStorage(context, objects.storages[object] ?? '', changes, by.actor)
  }
}

/** With those that a push has begun to make. */
export function allFieldsOf(
  { fields, ahead }: Pick<PresentApplication, 'fields' | 'ahead'>,
  storage: string,
): readonly JsonObject[] {
  return [...Object.values(fields[storage] ?? {}), ...Object.values(ahead[storage] ?? {})]
}

/** Of a storage that was deleted and comes back: those that it has no longer. */
export function leftFields(
  { present, requested }: Pick<Work, 'present' | 'requested'>,
  storage: string,
): readonly JsonObject[] {
  const then = requested.storages[storage]?.fields
  return Object.values(present.fields[storage] ?? {}).filter(
    ({ name }) => !isJsonObject(then) || memberOf(then, textIn(name)) === undefined,
  )
}

function settingsOf(storage: JsonObject | undefined): JsonObject {
  const { fields: _, ...settings } = storage ?? {}
  return settings
}

const prepared = { checked: true, within: true } as const
/** The field counts as the release has it, and its documents have their values; new ones of old blueprints get theirs for a while. */
function released(record: JsonObject, from: string, by: Actor): typeof prepared & UpdateOptions {
  const { preparation } = migrationIn(record) ?? {}
  return {
    ...prepared,
    also: async (session) => {
      const job = preparation && (await enqueuedServed(session, guidOf(record), by))
      const settling = preparation && job !== undefined ? storedSettling(preparation, from, job) : null
      return { migration: null, settling }
    },
  }
}

/** Whether stored values get another form on their way. */
export function isPrepared({ storages }: Application, storage: string, name: string): boolean {
  const fields = storages[storage]?.fields
  const field = isJsonObject(fields) ? memberOf(fields, name) : undefined
  return isJsonObject(field) && (field.fill !== undefined || field.convert !== undefined)
}

/** Fields that are calculated last: they read the others. */
async function writeFields(
  { joint: { database }, present, requested, by, changes, pause }: Work,
  storage: string,
): Promise<void> {
  const found = changes.find((one) => one.map === 'storages' && one.object === storage)
  const known = namedObject(Object.entries(present.fields[storage] ?? {}))
  const ahead = present.ahead[storage] ?? {}
  const isMadeFor = (name: string, record: JsonObject) => {
    const { preparation, field } = migrationIn(record) ?? {}
    return preparation !== undefined && field === name && isPrepared(requested, storage, name)
  }
  /** Records as they were, by the present name, of fields whose values were made ahead. What a former push left is ended afterwards. */
  const made = new Map(
    Object.entries({ ...known, ...ahead }).filter(([name, record]) => isMadeFor(name, record)),
  )
  for (const { was, name } of found?.parts ?? []) {
    const record = was === undefined ? undefined : known[was]
    if (!record) continue
    await pause()
    const { step, field, documents: copied = 0, preparation } = migrationIn(record) ?? {}
    const documents = step === 'copy' && field === name ? copied : 0
    known[name] = await switchName(database, record, { field: name, documents }, by.actor, {
      ...{ within: true, isReleased: true },
      isConverted: preparation !== undefined || isPrepared(requested, storage, name),
      isLeft: (other) => requested.storages[other] !== undefined,
    })
    delete known[was ?? '']
    if (preparation) made.set(name, record)
  }
  for (const [name, inputs] of calculatedLast(requested.storages[storage]?.fields)) {
    const field = withoutConversion(inputs)
    if (!isJsonObject(field)) continue
    await pause()
    const record = known[name]
    const body = bodyOfPart({ storage, name, ...field })
    const begun = ahead[name]
    if (!record && begun) {
      const options = released(begun, name, by.actor)
      await updateField(database, guidOf(begun), { ...fieldDefaults, ...body }, by.actor, options)
      continue
    }
    if (!record) {
      await createField(database, body, by.actor, prepared)
      continue
    }
    const changed = changeOfPart('fields', fieldOf(record), field)
    const before = made.get(name)
    const options = before ? released(before, String(before.name), by.actor) : prepared
    if (changed || before) await updateField(database, guidOf(record), changed ?? {}, by.actor, options)
  }
}

function calculatedLast(fields: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  const all = isJsonObject(fields) ? Object.entries(fields) : []
  const isCalculated = ([, field]: (typeof all)[number]) =>
    isJsonObject(field) && typeof field.computed === 'string'
  return [...all.filter((one) => !isCalculated(one)), ...all.filter(isCalculated)]
}

function authorOf({ actor, deployer, mayScript }: Publisher): TemplateAuthor {
  return { ...actor, mayScript, mayTakeAccountPages: deployer.mayTakeAccountPages }
}

async function writeTemplates(work: Work): Promise<void> {
  const { joint, requested, by, objects, pause } = work
  for (const { object, change } of changesOf(work, 'templates', 'created', 'changed')) {
    await pause()
    const { name, description, content, css, js } = bodyOfPart(requested.templates[object] ?? {})
    const input = {
      name: textIn(name),
      description: textIn(description),
      content: textIn(content),
      css: textIn(css),
      js: textIn(js),
    }
    const author = authorOf(by)
    if (change === 'created')
      objects.templates[object] = guidOf(await createTemplate(joint.database, input, author))
    else await updateTemplate(joint.database, objects.templates[object] ?? '', input, author)
  }
}

/** Also those that are as they should be and are not served. */
async function writeBlueprints(work: Work): Promise<Pick<Applied, 'served' | 'live'>> {
  const { parts, joint, present, requested, by, objects, pause } = work
  const served = new Map<string, LiveBlueprint | undefined>()
  const live = parts.deploy.live.copy()
  // What moves from one blueprint of the application to another one is taken by none meanwhile.
  live.setAll(new Map(Object.values(present.objects.blueprints).map((guid) => [guid, undefined])))
  const context = contextOf(work).records
  const fieldsOf = await fieldsIn(joint.database.session())
  const deploy: DeployParts = {
    ...parts.deploy,
    ...{ context, live },
    present: async () => ({ ...(await parts.deploy.present()), fieldsOf }),
    async serve(changes) {
      live.setAll(changes)
      for (const [guid, next] of changes) served.set(guid, next)
    },
    log: joint.isTrial ? () => undefined : parts.deploy.log,
  }
  for (const { object } of changesOf(work, 'blueprints', 'removed')) {
    await pause()
    const guid = objects.blueprints[object] ?? ''
    await deactivateBlueprint(deploy, guid, by.actor)
    await removeBlueprint(context, guid, by.actor)
    delete objects.blueprints[object]
  }
  for (const object of Object.keys(requested.blueprints)) {
    await pause()
    const changed = changesOf(work, 'blueprints', 'created', 'changed').some((one) => one.object === object)
    if (changed) await writeBlueprint(work, object)
    const guid = objects.blueprints[object] ?? ''
    const unchanged = !changed && present.blueprints[object]?.isServed === true
    if (!unchanged) await deployBlueprint(deploy, { guid, by: by.deployer, activate: true })
    else {
      const known = parts.deploy.live.table().blueprints.get(guid)
      if (known) live.checkClaims(known.compiled)
      live.set(guid, known)
    }
  }
  return { served, live }
}

async function writeBlueprint(work: Work, object: string): Promise<void> {
  const { parts, present, requested, by, objects } = work
  const context = contextOf(work).records
  const file = requested.blueprints[object] ?? {}
  const { name, description, category, tags, blocks, notes } = importBlueprint(file, parts.newGuid)
  const about = { name, description, category, tags: [...tags] }
  const known = present.blueprints[object]
  const drawn = { notes: notes.map((note) => ({ ...note })) }
  const input = { ...about, ...drawn }
  const former = known ? undefined : present.former[object]
  const restored = former === undefined ? undefined : await restoreBlueprint(context, former, input, by.actor)
  if (!known)
    objects.blueprints[object] = guidOf(
      restored?.record ?? (await createBlueprint(context, parts.random, input, by.actor)),
    )
  const guid = objects.blueprints[object] ?? ''
  const before = present.application.blueprints[object] ?? {}
  if (known && changesAbout(before, file))
    await updateBlueprint(
      context,
      guid,
      sameJson(before.notes, file.notes) ? about : { ...about, ...drawn },
      by.actor,
    )
  const { parts: changes = [] } =
    changesOf(work, 'blueprints', 'changed').find((one) => one.object === object) ?? {}
  const edits = blockEdits({ file, before, known: known ?? restored, changes }, blocks)
  if (edits.length === 0) return
  await stageEdits(context, parts.deploy.catalogue, guid, edits, by.actor)
  await saveStaged(context, guid, by.actor)
}

/** What refers to others goes before those. */
async function removeObjects(work: Work, live: LiveBlueprints): Promise<void> {
  const { parts, joint, present, by, changes, objects, pause } = work
  const { database } = joint
  for (const { map, object, parts: changed } of changes) {
    await pause()
    const fields = map === 'storages' ? (present.fields[object] ?? {}) : {}
    const gone = changed
      .filter((one) => one.kind === 'field' && one.change === 'removed')
      .map(({ name }) => name)
    for (const name of gone) {
      await pause()
      if (fields[name]) await removeField(database, guidOf(fields[name]), by.actor, prepared)
    }
  }
  const storages = changesOf(work, 'storages', 'removed')
  for (const { object } of storages)
    for (const field of allFieldsOf(present, object)) {
      await pause()
      // Documents that follow a change of it go too, and so does the job that changes them.
      const { job } = migrationIn(field) ?? {}
      const ending = async (session: Session) => void (job && (await session.transaction.endJob(job)))
      await removeField(database, guidOf(field), by.actor, { ...prepared, ending })
    }
  for (const { object } of storages) {
    await pause()
    const users = (storage: string) => usersOf(live.table(), storage)
    await removeStorage(contextOf(work), users, objects.storages[object] ?? '', by.actor)
    delete objects.storages[object]
  }
  for (const { object } of changesOf(work, 'templates', 'removed')) {
    await pause()
    await removeTemplate(database, objects.templates[object] ?? '', by.actor)
    delete objects.templates[object]
  }
  for (const { object } of changesOf(work, 'groups', 'removed')) {
    await pause()
    await parts.access.groupsIn(database).removeGroup(objects.groups[object] ?? '', by.identity)
    delete objects.groups[object]
  }
}
