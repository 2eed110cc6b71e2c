/** Extensions as they lie in a folder: what can be switched on. Reading one runs nothing of it outside of the sandbox. */
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { BlockDefinition } from '../../blocks/block.ts'
import type { Permissions } from '../../blocks/extensions/extension-answers.ts'
import {
  describedBlock,
  type ExtensionCode,
  type ExtensionDefinition,
  extensionBlock,
} from '../../blocks/extensions/extension-block.ts'
import { ExtendedCatalogue } from '../../blocks/load-blocks.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Problem } from '../../shared/errors.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'

const MOST_EXTENSIONS = 100
const MOST_FILES = 100
const MOST_BYTES = 256 * 1024
const MOST_BLOCKS = 50
const MODULE = /^[\w.-]+\.m?js$/
const BLOCK = /^(?:.*\/)?blocks\/[a-z][a-z0-9_]*\.m?js$/

const exact = { additionalProperties: false } as const
const names = Type.Optional(
  Type.Array(Type.String({ pattern: '^(\\*|[a-z][a-z0-9_-]{0,62})$' }), { maxItems: 100 }),
)
const manifest = Type.Object({
  version: Type.String({ pattern: '^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$' }),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  quoin: Type.Object(
    {
      extension: Type.String({ pattern: '^[a-z][a-z0-9]{1,29}$' }),
      permissions: Type.Optional(
        Type.Object(
          {
            hosts: Type.Optional(
              Type.Array(Type.String({ pattern: '^(\\*|(\\*\\.)?[a-z0-9.-]{1,253}|\\[[0-9a-f:.]+\\])$' }), {
                maxItems: 100,
              }),
            ),
            read: names,
            write: names,
          },
          exact,
        ),
      ),
    },
    exact,
  ),
})
const manifests = Compile(manifest)

/** A block with the module that it is in. */
export interface ExtensionBlock {
  readonly entry: string
  readonly definition: ExtensionDefinition
}

interface Blocks {
  readonly blocks: readonly ExtensionBlock[]
  /** Words that say why it cannot be switched on; empty for none. */
  readonly problems: readonly string[]
}

export interface FoundExtension extends ExtensionCode, Blocks {
  readonly description: string
}

/** Versions whose blocks are known: none is loaded twice. */
const MOST_KNOWN = 200

/**
 * Every folder below this one, or a package of a scope, whose package.json has the key `quoin`. In the order of their folders.
 * `own`: blocks of Quoin.
 */
export function extensionFolder(
  folder: string,
  own: ReadonlyMap<string, unknown>,
): (signal: AbortSignal) => Promise<FoundExtension[]> {
  if (folder === '') return async () => []
  const known = lruCache<string, Blocks>(MOST_KNOWN)
  return (signal) => extensionsIn(folder, { own, known, signal })
}

/** Blocks as a folder has them, for what is checked before a cluster has it. */
export interface FolderBlocks {
  readonly catalogue: ReadonlyMap<string, BlockDefinition>
  /** Those of which a block is among the types. */
  readonly used: readonly FoundExtension[]
  /** Versions of all that can be switched on, by name. */
  readonly versions: ReadonlyMap<string, string>
  /** Blocks of an extension that has problems. */
  missing(blocks: readonly Pick<Block, 'guid' | 'type'>[]): Problem[]
}

/** `folders`: an extension of a former one hides another one of its name. Nothing is read where all types are blocks of Quoin. */
export async function folderBlocks(
  folders: readonly string[],
  own: ReadonlyMap<string, BlockDefinition>,
  types: ReadonlySet<string>,
): Promise<FolderBlocks> {
  const isAllOwn = [...types].every((type) => own.has(type))
  if (isAllOwn) return { catalogue: own, used: [], versions: new Map(), missing: () => [] }
  const { signal } = new AbortController()
  const found = new Map<string, FoundExtension>()
  for (const folder of folders.filter((one) => one !== ''))
    for (const one of await extensionsIn(folder, { own, signal }))
      if (!found.has(one.name)) found.set(one.name, one)
  const sound = [...found.values()].filter(({ problems }) => problems.length === 0)
  const catalogue = new ExtendedCatalogue(own)
  for (const one of sound)
    for (const { definition, entry } of one.blocks)
      catalogue.set(definition.identifier, extensionBlock(one, definition, entry))
  return {
    catalogue,
    used: sound.filter(({ blocks }) => blocks.some(({ definition }) => types.has(definition.identifier))),
    versions: new Map(sound.map(({ name, version }) => [name, version])),
    missing: (blocks) =>
      blocks.flatMap(({ guid, type }) => {
        const [problem] = found.get(extensionOf(type))?.problems ?? []
        const message = `The block ${type} is of an extension that cannot be used: ${problem}`
        return problem === undefined ? [] : [{ block: guid, message }]
      }),
  }
}

/** The name of the extension, if the block is of one: names have no underscore. */
export function extensionOf(type: string): string {
  return type.slice(0, Math.max(0, type.indexOf('_')))
}

interface Reading {
  readonly own: ReadonlyMap<string, unknown>
  readonly known?: Pick<Map<string, Blocks>, 'get'> & { set(hash: string, blocks: Blocks): void }
  readonly signal: AbortSignal
}

async function extensionsIn(folder: string, reading: Reading): Promise<FoundExtension[]> {
  const found: FoundExtension[] = []
  for (const place of await packagesIn(folder)) {
    const extension = await readExtension(join(folder, place), reading)
    if (extension) found.push(extension)
    if (found.length === MOST_EXTENSIONS) break
  }
  return found.map((one) => {
    const twins = found.filter(({ name }) => name === one.name).length
    return twins > 1
      ? { ...one, problems: [...one.problems, 'Another one in the folder has the same name.'] }
      : one
  })
}

async function packagesIn(folder: string): Promise<string[]> {
  const places: string[] = []
  for (const name of await foldersIn(folder)) {
    if (name.startsWith('@'))
      for (const one of await foldersIn(join(folder, name))) places.push(join(name, one))
    else places.push(name)
  }
  return places
}

async function foldersIn(folder: string): Promise<string[]> {
  // A folder that is not there yet has none.
  const entries = await readdir(folder, { withFileTypes: true }).catch(noneIfMissing)
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

function noneIfMissing(error: unknown): never[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
  throw error
}

/** undefined for a folder that is no extension. */
export async function readExtension(
  folder: string,
  { own, known, signal }: Reading,
): Promise<FoundExtension | undefined> {
  const text = await smallText(join(folder, 'package.json'))
  const read = readJson(text ?? '')
  const said = 'value' in read ? read.value : undefined
  if (typeof said !== 'object' || said === null || !('quoin' in said)) return undefined
  const place = folder.slice(folder.lastIndexOf('/') + 1).slice(0, 60)
  if (!manifests.Check(said)) {
    const [first] = manifests.Errors(said)
    const at = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    return unread(place, `Its package.json does not fit: ${at} ${first?.message ?? ''}.`)
  }
  const { version, description = '', quoin } = said
  const { extension: name, permissions: asked = {} } = quoin
  const permissions: Permissions = {
    hosts: asked.hosts ?? [],
    read: asked.read ?? [],
    write: asked.write ?? [],
  }
  const modules = await modulesIn(folder)
  if (typeof modules === 'string') return { ...unread(name, modules), version, description, permissions }
  const hash = createHash('sha256')
    .update(JSON.stringify([name, version, permissions, Object.entries(modules)]))
    .digest('hex')
  const code: ExtensionCode = { name, version, hash, permissions, modules }
  const isOwn = [...own.keys()].some((identifier) => identifier.startsWith(`${name}_`))
  if (isOwn)
    return {
      ...code,
      description,
      blocks: [],
      problems: [`Blocks of Quoin begin with ${name}_. Choose another name.`],
    }
  const blocks = known?.get(hash) ?? (await blocksOf(code, signal))
  known?.set(hash, blocks)
  return { ...code, description, ...blocks }
}

function unread(name: string, problem: string): FoundExtension {
  const permissions = { hosts: [], read: [], write: [] }
  return {
    name,
    version: '',
    hash: '',
    permissions,
    modules: {},
    description: '',
    blocks: [],
    problems: [problem],
  }
}

/** undefined for what is no file, or none of a size that can be. */
async function smallText(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined)
  return found?.isFile() && found.size <= MOST_BYTES ? readFile(file, 'utf8') : undefined
}

/** By path, sorted. No link is followed, and tests and installed packages are left out. What is wrong is a text. */
async function modulesIn(folder: string): Promise<Readonly<Record<string, string>> | string> {
  const modules = new Map<string, string>()
  const folders = ['']
  let bytes = 0
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
        folders.push(path)
      if (!entry.isFile() || !MODULE.test(entry.name) || /\.test\.m?js$/.test(entry.name)) continue
      bytes += (await lstat(join(folder, path))).size
      if (bytes > MOST_BYTES) return `Its modules have more than ${MOST_BYTES / 1024} KiB together.`
      modules.set(path, await readFile(join(folder, path), 'utf8'))
      if (modules.size > MOST_FILES) return `It has more than ${MOST_FILES} modules.`
    }
    if (folders.length > MOST_FILES) return `It has more than ${MOST_FILES} folders.`
  }
  return Object.fromEntries([...modules].sort(([one], [other]) => (one < other ? -1 : 1)))
}

async function blocksOf(code: ExtensionCode, signal: AbortSignal): Promise<Blocks> {
  const entries = Object.keys(code.modules).filter((path) => BLOCK.test(path))
  if (entries.length === 0) return { blocks: [], problems: ['It has no block: a file of the folder blocks.'] }
  if (entries.length > MOST_BLOCKS)
    return { blocks: [], problems: [`It has more than ${MOST_BLOCKS} blocks.`] }
  const blocks: ExtensionBlock[] = []
  const problems: string[] = []
  for (const entry of entries) {
    const described = await describedBlock(code, entry, signal)
    if ('problem' in described) problems.push(`${entry}: The block ${described.problem}.`)
    else blocks.push({ entry, definition: described.definition })
  }
  return { blocks, problems }
}
