/**
 * Drafts of applications: files that an agent or a person changed, and that are not released. A draft holds only what differs from the
 * cluster, by the path of each file, so that removing it takes everything back. A file that the cluster has changed meanwhile is a conflict
 * and is never written over.
 *
 * An API key sees and changes its own drafts only; a signed-in user with the scopes sees all, each with its author.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { Identity } from '../access/identity-cache.ts'
import { holds } from '../access/scopes.ts'
import { candidateBlocks } from '../flows/blueprints/staged-content.ts'
import type { Flows } from '../flows/flows.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { applicationChanges, changeText } from '../shared/application/application-changes.ts'
import {
  type FileProblem,
  type Files,
  readingSteps,
  writingSteps,
} from '../shared/application/application-files.ts'
import { pauses, runCooperatively } from '../shared/cooperative.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { blockNames } from '../shared/names/block-name.ts'
import { readJson } from '../shared/numbers/exact-json.ts'
import { matchAll, type Query } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn, updateHashOf } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'
import type { Applications } from './applications.ts'
import { applicationProblems, switchedOn } from './check-application.ts'
import { ownedObjectsIn } from './present-application.ts'

/** Of a cluster: each is read whole when it is shown. */
const MOST_DRAFTS = 1_000
/** Of one author: an agent that begins new ones instead of changing its own is stopped. */
const MOST_OF_AUTHOR = 50
/** Of the changed files of one draft together; a push takes no more either. */
const MOST_CHARACTERS = 4 * 1024 * 1024
/** Of one file, which is read within one turn of the event loop. A blueprint of 2,000 blocks has as many. */
const MOST_OF_FILE = 1024 * 1024
/** Of an edit whose draft is pushed or removed meanwhile. */
const MOST_TRIES = 3
/** Drafts of one blueprint that are compared with it. */
const MOST_OF_BLUEPRINT = 20
/** In the changed blueprints of one draft: more than a person can review. */
const MOST_BLOCKS = 2_000

/** One change of one file. */
export type FileChange = { readonly path: string } & (
  | { readonly text: string }
  | { readonly remove: true }
  /** `old` must be in the file exactly once. */
  | { readonly old: string; readonly new: string }
)

export type Author = Pick<Identity, 'guid' | 'username' | 'tokenGuid' | 'key' | 'scopes'>

export interface ReadDraft {
  readonly record: JsonObject
  /** The whole application as the draft has it. */
  readonly files: Files
  /** Of the changed files those that the cluster has, as it has them. */
  readonly live: Files
  readonly application: Application
  /** Of the draft against the cluster: `changed blueprints/deals.json: block reply changed`. */
  readonly changes: readonly string[]
  /** Files that the cluster has changed since the draft did. */
  readonly conflicts: readonly string[]
  readonly problems: readonly FileProblem[]
}

export interface Drafts {
  /** Changes the author's draft of the application, or begins one. All changes or none. */
  edit(application: string, changes: readonly FileChange[], by: Author): Promise<JsonObject>
  list(viewer: Author): Promise<readonly JsonObject[]>
  /** NOT_FOUND also for a draft that the viewer may not see. */
  read(guid: string, viewer: Author): Promise<ReadDraft>
  /** Those that change the blueprint, the last changed first. None for one of its own, or that is not there. */
  ofBlueprint(guid: string, viewer: Author): Promise<readonly BlueprintDraft[]>
  /** `shop, by ann`: those with blocks of one of these types, of all authors. */
  naming(types: readonly string[]): Promise<readonly string[]>
  /** Takes all of its changes back. */
  remove(guid: string, by: Author): Promise<void>
}

export interface BlueprintDraft {
  readonly record: JsonObject
  /** Guids of those that it changes or removes. */
  readonly blocks: readonly string[]
  /** How many it adds. */
  readonly created: number
}

/** What only some applications have, as a file or folder, and the scope that shows it. */
export const partsWithScopes = [
  ['groups', 'authentication_groups_view'],
  ['connections', 'connections_view'],
  ['alerts', 'alerts_view'],
  ['queues', 'queue_view'],
] as const

/** The scope without which this viewer may not see a file of an application. */
export function missingScope(path: string, { scopes }: Pick<Identity, 'scopes'>): string | undefined {
  const [part = ''] = path.split(/[/.]/)
  const [, scope] = partsWithScopes.find(([name]) => name === part) ?? []
  return scope === undefined || holds(scopes, scope) ? undefined : scope
}

/** INSUFFICIENT_PERMISSIONS for a draft that changes what its viewer may not see. */
function checkSeen(path: string, viewer: Author): void {
  const scope = missingScope(path, viewer)
  if (scope === undefined) return
  const message = `The scope ${scope} is missing: the draft changes ${path}.`
  throw new QuoinError('INSUFFICIENT_PERMISSIONS', message)
}

interface Stored {
  readonly patch: Map<string, string | undefined>
  /** Digest of each changed file as the cluster had it; empty where it had none. */
  readonly base: Map<string, string>
}

export async function openDrafts(applications: Applications, flows: Flows): Promise<Drafts> {
  const { database } = flows.records
  const storage = systemStorages.drafts
  await database.ensure(storage, { indexes: [{ fields: ['owner'], unique: true }, { fields: ['author'] }] })
  const present = (name: string) => presentFiles(applications, name)
  const visible = async (session: Session, guid: string, viewer: Author): Promise<JsonObject> => {
    const stored = await session.get(storage, guid)
    const record = stored && documentOf(stored)
    if (record === undefined || (viewer.key !== undefined && record.author !== authorOf(viewer)))
      throw new QuoinError(
        'NOT_FOUND',
        `There is no draft ${JSON.stringify(guid)}. List drafts to see yours.`,
      )
    return record
  }
  return {
    async edit(application, changes, by) {
      for (const { path } of changes) checkSeen(path, by)
      const now = await present(application)
      const digests = await digestsOf(changes, now)
      return database.capabilities.withClusterLock(storage, async () => {
        for (let tries = 0; tries < MOST_TRIES; tries++) {
          const edited = await editOnce(database, { application, changes, by, now, digests })
          if (edited) return edited
        }
        throw new QuoinError('CONFLICT', 'The draft was removed or pushed meanwhile. Send the changes again.')
      })
    },
    list: (viewer) => draftsSeen(database.session(), viewer),
    async read(guid, viewer) {
      const record = await visible(database.session(), guid, viewer)
      for (const path of textsIn(record.paths)) checkSeen(path, viewer)
      const now = await present(textIn(record.name))
      return { record, ...(await readDraft(record, now, flows)) }
    },
    ofBlueprint: (guid, viewer) => ofBlueprint(guid, viewer, applications, flows),
    naming: (types) => draftsNaming(database.session(), types),
    async remove(guid, by) {
      const user = { guid: by.guid, username: by.username }
      const work = async (session: Session) => {
        await visible(session, guid, by)
        await session.delete(storage, guid)
      }
      await transactAgain(database, work, { user })
    },
  }
}

interface Edit {
  readonly application: string
  readonly changes: readonly FileChange[]
  readonly by: Author
  /** The application as the cluster has it, and the digests of the changed files. */
  readonly now: Files
  readonly digests: ReadonlyMap<string, string>
}

/** Undefined where the draft was removed or pushed meanwhile. */
async function editOnce(
  database: Database,
  { application, changes, by, now, digests }: Edit,
): Promise<JsonObject | undefined> {
  const user = { guid: by.guid, username: by.username }
  const found = await ofAuthor(database.session(), application, by)
  // Before the transaction: others have their turn between the changes.
  const stored = await patched(await storedIn(found), changes, { now, digests })
  await checkSize(stored)
  const fields = { ...(await written(stored)), modified_by: user }
  const work = async (session: Session): Promise<JsonObject | undefined> => {
    if (found !== undefined) {
      const updateHash = updateHashOf(found)
      const updated = await session.update(systemStorages.drafts, guidOf(found), setFields(fields), {
        updateHash,
      })
      return updated.outcome === 'written' ? documentOf(updated.document) : undefined
    }
    await checkRoom(session, by)
    const author = { author: authorOf(by), agent: by.key?.name ?? '', created_by: user }
    const about = { name: application, owner: ownerOf(application, by), ...author }
    return documentOf(await session.create(systemStorages.drafts, setFields({ ...about, ...fields })))
  }
  return transactAgain(database, work, { user })
}

/** Those that the viewer sees, of one application or of all. */
function draftsSeen(session: Session, viewer: Author, application?: string): Promise<readonly JsonObject[]> {
  const terms = [
    ['author', viewer.key && authorOf(viewer)],
    ['name', application],
  ] as const
  const queries = terms.flatMap(([field, value]): Query[] =>
    value === undefined ? [] : [{ kind: 'term', field, value }],
  )
  const query: Query = queries.length === 0 ? matchAll : { kind: 'and', queries }
  return findAll(session, systemStorages.drafts, query, MOST_DRAFTS)
}

async function ofBlueprint(
  guid: string,
  viewer: Author,
  applications: Applications,
  flows: Flows,
): Promise<readonly BlueprintDraft[]> {
  const owner = ownerOfBlueprint(await applications.list(), guid)
  if (owner === undefined) return []
  const path = `blueprints/${owner.object}.json`
  const all = await draftsSeen(flows.records.database.session(), viewer, owner.name)
  const drafts = all.filter(({ paths }) => textsIn(paths).includes(path)).toSorted(lastFirst)
  if (drafts.length === 0) return []
  const live = (await presentFiles(applications, owner.name)).get(path)
  const blocks = await candidateBlocks(flows.records, guid, 'staged')
  const guids = new Map([...blockNames(blocks)].map(([block, name]) => [name, block]))
  const found: BlueprintDraft[] = []
  for (const record of drafts.slice(0, MOST_OF_BLUEPRINT))
    found.push({ record, ...(await changedBlocks(record, path, { live, guids })) })
  return found
}

function ownerOfBlueprint(applications: readonly JsonObject[], guid: string) {
  for (const { name, objects } of applications)
    for (const [object, owned] of Object.entries(ownedObjectsIn(objects).blueprints))
      if (owned === guid) return { name: textIn(name), object }
  return undefined
}

function lastFirst(a: JsonObject, b: JsonObject): number {
  return updatedOf(b) - updatedOf(a)
}

function updatedOf({ _meta }: JsonObject): number {
  return isJsonObject(_meta) ? numberIn(_meta.updated) : 0
}

/** By their names in the files; a block that the canvas does not have (yet) has no guid. */
async function changedBlocks(
  record: JsonObject,
  path: string,
  { live, guids }: { readonly live: string | undefined; readonly guids: ReadonlyMap<string, string> },
): Promise<Omit<BlueprintDraft, 'record'>> {
  const { patch } = await storedIn(record)
  const [before, after] = [blocksIn(live), blocksIn(patch.get(path))]
  const differs = (name: string) => !sameJson(before.get(name) ?? null, after.get(name) ?? null)
  const blocks = [...before.keys()].filter(differs).flatMap((name) => guids.get(name) ?? [])
  return { blocks, created: [...after.keys()].filter((name) => !before.has(name)).length }
}

/** What is no JSON is a problem of its file, and has no blocks. */
function blocksIn(text: string | undefined): ReadonlyMap<string, JsonValue> {
  const read = readJson(text ?? '')
  const blocks = 'value' in read && isJsonObject(read.value) ? read.value.blocks : undefined
  return new Map(isJsonObject(blocks) ? Object.entries(blocks) : [])
}

async function draftsNaming(session: Session, types: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const record of await findAll(session, systemStorages.drafts, matchAll, MOST_DRAFTS)) {
    // The texts of files are JSON within JSON.
    const text = await unpacked(textIn(record.patch))
    if (!types.some((type) => text.includes(`\\"${type}\\"`))) continue
    const author = isJsonObject(record.created_by) ? textIn(record.created_by.username) : ''
    found.push(`${textIn(record.name)}, by ${author}`)
  }
  return found
}

/** An API key has drafts of its own, apart from those of its user. */
function authorOf({ guid, tokenGuid, key }: Author): string {
  return key === undefined ? guid : `${guid} ${tokenGuid}`
}

function ownerOf(application: string, by: Author): string {
  return `${application} ${authorOf(by)}`
}

async function ofAuthor(session: Session, application: string, by: Author): Promise<JsonObject | undefined> {
  const query = { kind: 'term', field: 'owner', value: ownerOf(application, by) } as const
  return (await findAll(session, systemStorages.drafts, query, 1))[0]
}

async function checkRoom(session: Session, by: Author): Promise<void> {
  const mine = { kind: 'term', field: 'author', value: authorOf(by) } as const
  if ((await session.count(systemStorages.drafts, mine)) >= MOST_OF_AUTHOR)
    throw new QuoinError('CONFLICT', `You have ${MOST_OF_AUTHOR} drafts. Remove or push some first.`)
  if ((await session.count(systemStorages.drafts, matchAll)) >= MOST_DRAFTS)
    throw new QuoinError('CONFLICT', `The cluster has ${MOST_DRAFTS} drafts. Remove or push some first.`)
}

/** Without files for an application that the cluster does not have yet. */
async function presentFiles(applications: Applications, name: string): Promise<Files> {
  const known = await applications.list()
  return known.some((one) => one.name === name)
    ? runCooperatively(writingSteps(await applications.read(name)))
    : new Map()
}

async function storedIn(record: JsonObject | undefined): Promise<Stored> {
  const { patch, base } = record ?? {}
  const texts = await unpacked(textIn(patch))
  return {
    patch: new Map(
      entriesIn(texts).map(([path, text]) => [path, typeof text === 'string' ? text : undefined]),
    ),
    base: new Map(entriesIn(base).map(([path, digest]) => [path, textIn(digest)])),
  }
}

/** Stored as text: names of files would fill the shape of the storage. */
function entriesIn(text: JsonObject[string] | undefined) {
  const parsed: unknown = JSON.parse(textIn(text) || '{}')
  return isJsonObject(parsed) ? Object.entries(parsed) : []
}

/** JSON that is packed: 3 MB of line ends, as text in the JSON of a record, took 0.2 s in one turn to write. */
async function packed(patch: Stored['patch']): Promise<string> {
  const pause = pauses()
  const members: string[] = []
  for (const [path, text] of patch) {
    members.push(`${JSON.stringify(path)}:${JSON.stringify(text ?? null)}`)
    await pause()
  }
  return (await promisify(deflate)(`{${members.join(',')}}`)).toString('base64')
}

/** Drafts of before are not packed. */
async function unpacked(text: string): Promise<string> {
  if (text === '' || text.startsWith('{')) return text
  const options = { maxOutputLength: 8 * MOST_CHARACTERS }
  return (await promisify<Buffer, object, Buffer>(inflate)(Buffer.from(text, 'base64'), options)).toString()
}

async function written({ patch, base }: Stored) {
  return {
    patch: await packed(patch),
    base: JSON.stringify(Object.fromEntries(base)),
    paths: [...patch.keys()].sort(),
  }
}

function digestOf(text: string | undefined): string {
  return text === undefined ? '' : createHash('sha256').update(text).digest('hex')
}

/** Of the changed files as the cluster has them: each once, and up to 4 MB. */
async function digestsOf(changes: readonly FileChange[], present: Files) {
  const pause = pauses()
  const digests = new Map<string, string>()
  for (const { path } of changes) {
    if (digests.has(path)) continue
    digests.set(path, digestOf(present.get(path)))
    await pause()
  }
  return digests
}

async function patched(
  { patch, base }: Stored,
  changes: readonly FileChange[],
  { now: present, digests }: { readonly now: Files; readonly digests: ReadonlyMap<string, string> },
): Promise<Stored> {
  const pause = pauses()
  for (const change of changes) {
    await pause()
    const { path } = change
    const now = present.get(path)
    const text = changedText(change, patch.has(path) ? patch.get(path) : now)
    if (text !== undefined && text.length > MOST_OF_FILE)
      throw invalidField(
        'changes',
        `${path}: a file of a draft holds at most ${MOST_OF_FILE} characters. Split it.`,
      )
    // A whole text replaces what the cluster has now; part of one only what the draft began with.
    if ('text' in change || 'remove' in change || !base.has(path)) base.set(path, digests.get(path) ?? '')
    patch.set(path, text)
    if (text !== now) continue
    patch.delete(path)
    base.delete(path)
  }
  return { patch, base }
}

function changedText(change: FileChange, now: string | undefined): string | undefined {
  if ('remove' in change) return undefined
  if ('text' in change) return change.text
  if (now === undefined)
    throw invalidField('changes', `There is no file ${change.path}. Send its whole text.`)
  const at = now.indexOf(change.old)
  const end = at + change.old.length
  if (at < 0 || now.includes(change.old, end))
    throw invalidField(
      'changes',
      `${change.path}: old must be in the file exactly once; it is there ${now.split(change.old).length - 1} times. Read the file again.`,
    )
  return `${now.slice(0, at)}${change.new}${now.slice(end)}`
}

async function checkSize({ patch }: Stored): Promise<void> {
  const texts = [...patch.values()].map((text) => text ?? '')
  if (texts.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS)
    throw invalidField(
      'changes',
      `A draft holds at most ${MOST_CHARACTERS} characters. Push a part of it first.`,
    )
  const pause = pauses()
  let blocks = 0
  for (const [path, text] of patch) {
    if (path.startsWith('blueprints/')) blocks += blocksIn(text).size
    await pause()
  }
  if (blocks > MOST_BLOCKS)
    throw invalidField(
      'changes',
      `A draft holds at most ${MOST_BLOCKS} blocks; this one has ${blocks}. Split it.`,
    )
}

async function readDraft(
  record: JsonObject,
  present: Files,
  flows: Flows,
): Promise<Omit<ReadDraft, 'record'>> {
  const { patch, base } = await storedIn(record)
  const files = new Map(present)
  for (const [path, text] of patch)
    if (text === undefined) files.delete(path)
    else files.set(path, text)
  const conflicts = [...base].flatMap(([path, digest]) =>
    digestOf(present.get(path)) === digest ? [] : [path],
  )
  const { application, problems, placeOf } = await runCooperatively(readingSteps(files))
  const live = flows.live.copy()
  live.setAll(new Map([...live.table().blueprints.keys()].map((guid) => [guid, undefined])))
  const found = await applicationProblems(application, {
    ...{ catalogue: flows.catalogue, live },
    extensions: switchedOn(flows),
  })
  const placed = found.map(({ map, object, path, ...problem }) => ({
    ...problem,
    ...placeOf(map, object, path),
  }))
  const wrongName =
    files.has('quoin.json') && nameOfApplication(application) !== record.name
      ? [{ file: 'quoin.json', line: 1, column: 1, message: `name must be ${JSON.stringify(record.name)}.` }]
      : []
  return {
    files,
    live: new Map([...present].filter(([path]) => patch.has(path))),
    application,
    changes: applicationChanges((await runCooperatively(readingSteps(present))).application, application).map(
      changeText,
    ),
    conflicts,
    problems: [...problems, ...wrongName, ...placed],
  }
}
