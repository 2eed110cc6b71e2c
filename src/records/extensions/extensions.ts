/**
 * Extensions that are switched on. Their code is stored with the cluster when an administrator switches them on, so that each node runs the
 * same, whatever lies in its folder, and a deployment goes on with the version that it was made with.
 */
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { BlockDefinition } from '../../blocks/block.ts'
import { describeBlock } from '../../blocks/describe-block.ts'
import { extensionBlock, extensionDefinition } from '../../blocks/extensions/extension-block.ts'
import { ExtendedCatalogue } from '../../blocks/load-blocks.ts'
import type { BlockDescription } from '../../shared/api/blocks/blocks.ts'
import type { Block } from '../../shared/blueprint.ts'
import { oneAtATime } from '../../shared/cooperative.ts'
import { type Problem, QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transactAgain } from '../../storage/transact.ts'
import { type Actor, findRecords } from '../records.ts'
import type { FoundExtension } from './extension-folder.ts'
import { checkUnused } from './extension-uses.ts'

const { extensions: storage, extensionCode: codeStorage } = systemStorages

type Catalogue = ReadonlyMap<string, BlockDefinition>

/** The versions with which a deployment was made, by extension. */
export type ExtensionVersions = Readonly<Record<string, { readonly version: string; readonly hash: string }>>

const versionsSchema = Compile(
  Type.Record(Type.String(), Type.Object({ version: Type.String(), hash: Type.String() })),
)

/** As a deployment has them. */
export function readVersions(stored: JsonValue | undefined): ExtensionVersions {
  return stored === undefined ? {} : versionsSchema.Parse(stored)
}

/** What flows need of extensions. */
export interface ExtensionCatalogue {
  /** All blocks that there are now: the same map, which changes. */
  readonly present: Catalogue
  /** The versions of the extensions whose blocks these are. */
  versionsOf(types: Iterable<string>): ExtensionVersions
  /** The blocks with those of these versions; the same map for the same versions. VALIDATION_FAILED for one that was removed. */
  withVersions(versions: ExtensionVersions): Promise<Catalogue>
  /** Blocks that are of an extension, and of none that is on. */
  missing(blocks: readonly Pick<Block, 'guid' | 'type'>[]): Problem[]
  /** Versions of those that are on, by name. */
  switchedOn(): ReadonlyMap<string, string>
  /** Of those that are on and are named or have a block of these types, all files by path: `acme/blocks/acme_ask.js`. */
  filesOf(types: ReadonlySet<string>, names: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** An extension as it was stored when it was switched on. */
export interface StoredExtension {
  readonly name: string
  readonly version: string
  readonly hash: string
  readonly on: boolean
  readonly description: string
  readonly permissions: {
    readonly hosts: readonly string[]
    readonly read: readonly string[]
    readonly write: readonly string[]
  }
  /** Identifiers. */
  readonly blocks: readonly string[]
}

export interface Extensions extends ExtensionCatalogue {
  /** Every version that is stored. */
  stored(): readonly StoredExtension[]
  /** Blocks of those that are on, for the palette: the same list until one of them changes. */
  descriptions(): readonly BlockDescription[]
  /** In the place of another version of it. CONFLICT where there are problems, or too many. */
  switchOn(found: FoundExtension, by: Actor): Promise<void>
  /** The same for a version that is stored. False where there is none with this hash. */
  switchBack(name: string, hash: string, by: Actor): Promise<boolean>
  /** What is deployed goes on. NOT_FOUND. */
  switchOff(name: string, by: Actor): Promise<void>
  /**
   * With its code. Gives the names of blueprints whose saved blocks need it, and are not deployed with it. CONFLICT, by name, where it is on, an
   * active blueprint was deployed with a version of it (`active`: names by hash), a run waits on such a deployment, or a job waits for a
   * function of a blueprint that needs it. NOT_FOUND.
   */
  remove(
    name: string,
    active: () => ReadonlyMap<string, readonly string[]>,
    by: Actor,
  ): Promise<readonly string[]>
  close(): void
}

/** Of a cluster, all versions counted. */
const MOST_STORED = 200
/** Of the catalogues of former versions: each holds the code of its extensions. */
const MOST_CATALOGUES = 20

const permissionsSchema = Type.Object({
  hosts: Type.Array(Type.String()),
  read: Type.Array(Type.String()),
  write: Type.Array(Type.String()),
})
const recordSchema = Compile(
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    hash: Type.String(),
    on: Type.Boolean(),
    description: Type.String(),
    permissions: permissionsSchema,
    blocks: Type.Array(Type.String()),
  }),
)
const codeSchema = Compile(
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    hash: Type.String(),
    permissions: permissionsSchema,
    modules: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
    blocks: Type.Array(Type.Object({ entry: Type.String(), definition: extensionDefinition })),
  }),
)

/** The blocks of Quoin alone. */
export function withoutExtensions(own: Catalogue): ExtensionCatalogue {
  const none = new Map<string, string>()
  return {
    ...{ present: own, withVersions: async () => own, versionsOf: () => ({}) },
    ...{ missing: () => [], switchedOn: () => none, filesOf: async () => none },
  }
}

export async function openExtensions(database: Database, own: Catalogue): Promise<Extensions> {
  await database.ensure(storage, { indexes: [{ fields: ['name'] }, { fields: ['hash'], unique: true }] })
  await database.ensure(codeStorage, { indexes: [{ fields: ['hash'], unique: true }] })
  const opened = new OpenedExtensions(database, own)
  await opened.open()
  return opened
}

class OpenedExtensions implements Extensions {
  readonly present: ExtendedCatalogue
  readonly #database: Database
  readonly #own: Catalogue
  readonly #inTurn = oneAtATime()
  readonly #catalogues = lruCache<string, Promise<Catalogue>>(MOST_CATALOGUES)
  #stored: readonly (StoredExtension & { readonly guid: string })[] = []
  #descriptions: readonly BlockDescription[] = []
  #unwatch: () => void = () => undefined

  constructor(database: Database, own: Catalogue) {
    this.#database = database
    this.#own = own
    this.present = new ExtendedCatalogue(own)
  }

  async open(): Promise<void> {
    this.#unwatch = this.#database.capabilities.changes.watch(storage, () => this.#read())
    await this.#read()
  }

  close(): void {
    this.#unwatch()
  }

  stored(): readonly StoredExtension[] {
    return this.#stored
  }

  descriptions(): readonly BlockDescription[] {
    return this.#descriptions
  }

  versionsOf(types: Iterable<string>): ExtensionVersions {
    const used = new Set(types)
    const on = this.#stored.filter((one) => one.on && one.blocks.some((block) => used.has(block)))
    return Object.fromEntries(on.map(({ name, version, hash }) => [name, { version, hash }]))
  }

  async withVersions(versions: ExtensionVersions): Promise<Catalogue> {
    const named = Object.entries(versions).sort(([one], [other]) => (one < other ? -1 : 1))
    if (named.length === 0) return this.#own
    const key = JSON.stringify(named)
    const known = this.#catalogues.get(key)
    if (known) return known
    const made = this.#withVersions(named)
    made.catch(() => this.#catalogues.delete(key))
    this.#catalogues.set(key, made)
    return made
  }

  async #withVersions(
    versions: readonly (readonly [string, ExtensionVersions[string]])[],
  ): Promise<Catalogue> {
    const catalogue = new ExtendedCatalogue(this.#own)
    const session = this.#database.session()
    for (const [name, { version, hash }] of versions) {
      const blocks = await blocksOf(session, hash)
      if (!blocks) {
        const message = `The blueprint needs the extension ${name} ${version}, which was removed. Switch on a version of it, and deploy the blueprint again.`
        throw new QuoinError('VALIDATION_FAILED', message, { problems: [{ block: '', message }] })
      }
      for (const block of blocks) catalogue.set(block.identifier, block)
    }
    return catalogue
  }

  switchedOn(): ReadonlyMap<string, string> {
    return new Map(this.#stored.filter(({ on }) => on).map(({ name, version }) => [name, version]))
  }

  async filesOf(types: ReadonlySet<string>, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>()
    for (const { on, name, version, hash, blocks, permissions } of this.#stored) {
      if (!on || !(names.includes(name) || blocks.some((block) => types.has(block)))) continue
      const code = await codeOf(this.#database.session(), hash)
      files.set(`${name}/package.json`, JSON.stringify({ version, quoin: { extension: name, permissions } }))
      for (const { path, text } of code?.modules ?? []) files.set(`${name}/${path}`, text)
    }
    return files
  }

  missing(blocks: readonly Pick<Block, 'guid' | 'type'>[]): Problem[] {
    return blocks.flatMap(({ guid, type }) => {
      const known = this.present.has(type) ? undefined : this.#stored.find((one) => one.blocks.includes(type))
      if (!known) return []
      const on = this.#stored.find((one) => one.on && one.name === known.name)
      const message = on
        ? `The version ${on.version} of the extension ${known.name} has no block ${type}; ${known.version} has it.`
        : `The block ${type} is of the extension ${known.name}, which is switched off.`
      return [{ block: guid, message }]
    })
  }

  async switchOn(found: FoundExtension, by: Actor): Promise<void> {
    const [problem] = found.problems
    if (problem !== undefined)
      throw new QuoinError('CONFLICT', `The extension ${found.name} cannot be switched on. ${problem}`)
    await this.#change(by, async (session) => {
      if (await turnOn(session, found, by)) return
      if ((await session.count(storage, matchAll)) >= MOST_STORED)
        throw new QuoinError(
          'CONFLICT',
          `A cluster stores at most ${MOST_STORED} versions of extensions. Remove some first.`,
        )
      await createVersion(session, found, { modified_by: { ...by } })
    })
  }

  async switchBack(name: string, hash: string, by: Actor): Promise<boolean> {
    if (!this.#stored.some((one) => one.name === name && one.hash === hash)) return false
    await this.#change(by, async (session) => {
      if (!(await turnOn(session, { name, hash }, by)))
        throw new QuoinError('CONFLICT', `The extension ${name} was removed meanwhile.`)
    })
    return true
  }

  async switchOff(name: string, by: Actor): Promise<void> {
    await this.#change(by, async (session) => {
      for (const one of await versionsNamed(session, name))
        if (one.on === true)
          await session.update(storage, guidOf(one), setFields({ on: false, modified_by: { ...by } }))
    })
  }

  async remove(
    name: string,
    active: () => ReadonlyMap<string, readonly string[]>,
    by: Actor,
  ): Promise<readonly string[]> {
    return this.#change(by, async (session) => {
      const versions = await versionsNamed(session, name)
      if (versions.some(({ on }) => on === true))
        throw new QuoinError('CONFLICT', `The extension ${name} is on. Switch it off first.`)
      const named = await checkUnused(session, this.#database.capabilities.jobs, {
        name,
        active: active(),
        versions: versions.map(({ hash, version, blocks }) => ({
          ...{ hash: textIn(hash), version: textIn(version), blocks: textsIn(blocks) },
        })),
      })
      for (const one of versions) {
        const code = await findOne(session, codeStorage, 'hash', textIn(one.hash))
        if (code) await session.delete(codeStorage, guidOf(code))
        await session.delete(storage, guidOf(one))
      }
      return named
    })
  }

  /** Not beside a deploy, which could use what goes. */
  async #change<Result>(by: Actor, work: (session: Session) => Promise<Result>): Promise<Result> {
    const result = await this.#database.capabilities.withClusterLock('deployments', () =>
      transactAgain(this.#database, work, { user: by }),
    )
    await this.#read()
    return result
  }

  #read(): Promise<void> {
    return this.#inTurn('read', async () => {
      const session = this.#database.session()
      const records = await findRecords(session, storage, matchAll)
      const stored = records.map((record) => ({ ...recordSchema.Parse(record), guid: guidOf(record) }))
      const on: (readonly [name: string, block: BlockDefinition])[] = []
      for (const { name, hash, on: isOn } of stored)
        if (isOn) for (const block of (await blocksOf(session, hash)) ?? []) on.push([name, block])
      this.#stored = stored
      this.#descriptions = on.map(([name, block]) => describeBlock(block, name))
      const names = new Set([...this.#own.keys(), ...on.map(([, { identifier }]) => identifier)])
      for (const name of [...this.present.keys()]) if (!names.has(name)) this.present.delete(name)
      for (const [, block] of on) this.present.set(block.identifier, block)
    })
  }
}

/** That version in the place of the others of the extension. False where it is not stored; the others are off then. */
async function turnOn(
  session: Session,
  { name, hash }: Pick<StoredExtension, 'name' | 'hash'>,
  by: Actor,
): Promise<boolean> {
  const stored = await findRecords(session, storage, { kind: 'term', field: 'name', value: name })
  for (const one of stored) {
    const on = one.hash === hash
    if (one.on !== on) await session.update(storage, guidOf(one), setFields({ on, modified_by: { ...by } }))
  }
  return stored.some((one) => one.hash === hash)
}

async function versionsNamed(session: Session, name: string): Promise<JsonObject[]> {
  const found = await findRecords(session, storage, { kind: 'term', field: 'name', value: name })
  if (found.length === 0) throw new QuoinError('NOT_FOUND', `There is no extension ${name}.`)
  return found
}

async function createVersion(session: Session, found: FoundExtension, stamp: JsonObject): Promise<void> {
  const { name, version, hash, description, permissions, modules, blocks } = found
  const about = { name, version, hash, permissions: { ...permissions } }
  const identifiers = blocks.map(({ definition }) => definition.identifier)
  await session.create(storage, setFields({ ...about, description, on: true, blocks: identifiers, ...stamp }))
  // A list: paths hold dots, which names of fields may not.
  const texts = Object.entries(modules).map(([path, text]) => ({ path, text }))
  const written: JsonObject[] = JSON.parse(JSON.stringify(blocks))
  await session.create(codeStorage, setFields({ ...about, modules: texts, blocks: written }))
}

async function codeOf(session: Session, hash: string) {
  const record = await findOne(session, codeStorage, 'hash', hash)
  return record && codeSchema.Parse(record)
}

async function blocksOf(session: Session, hash: string): Promise<readonly BlockDefinition[] | undefined> {
  const stored = await codeOf(session, hash)
  if (!stored) return undefined
  const { blocks, modules, ...about } = stored
  const code = { ...about, modules: Object.fromEntries(modules.map(({ path, text }) => [path, text])) }
  return blocks.map(({ entry, definition }) => extensionBlock(code, definition, entry))
}
