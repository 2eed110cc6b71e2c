import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { BlockDefinition } from './block.ts'
import { type BlockModule, bundledBlocks } from './bundled-blocks.ts'
import { definitionProblems, isDefinition } from './check-definition.ts'

/** An identifier has no hyphen, and a test has a second dot. `scripts/build-program.mjs` goes by the same. */
const BLOCK_FILE = /^\w+\.ts$/

/** A block and where it was found. */
export interface FoundBlock {
  /** The folder: what the palette groups by. */
  readonly group: string
  readonly file: string
  readonly definition: BlockDefinition
}

/**
 * All blocks by identifier and by alias. A block is there because its file is: `<directory>/<group>/<identifier>.ts`. Files
 * with a hyphen in their name hold what the blocks of a group share.
 * Throws an Error that names the file for the first one that is malformed or takes a name that is taken.
 */
export function loadBlocks(directory?: string): Promise<ReadonlyMap<string, BlockDefinition>> {
  if (directory !== undefined) return foundIn(blockModules(directory)).then(catalogueOf)
  // One for the process: flows that were compiled with it are compared by it.
  ownCatalogue ??= findBlocks().then(catalogueOf)
  return ownCatalogue
}

let ownCatalogue: Promise<ReadonlyMap<string, BlockDefinition>> | undefined

let own: Promise<readonly FoundBlock[]> | undefined

/**
 * All blocks, sorted by group and identifier. Errors as for {@link loadBlocks}, except for names that are taken. Those of
 * Quoin are looked for once in a process: modules do not change, and reading the folders takes 10 ms.
 */
export function findBlocks(directory?: string): Promise<readonly FoundBlock[]> {
  if (directory !== undefined) return foundIn(blockModules(directory))
  own ??= foundIn(bundledBlocks ?? blockModules(import.meta.dirname))
  return own
}

async function foundIn(
  modules: Iterable<BlockModule> | AsyncIterable<BlockModule>,
): Promise<readonly FoundBlock[]> {
  const found: FoundBlock[] = []
  for await (const module of modules) found.push(checked(module))
  return found
}

async function* blockModules(directory: string): AsyncGenerator<BlockModule> {
  for (const group of await foldersIn(directory)) {
    const folder = join(directory, group)
    const files = (await readdir(folder)).filter((name) => BLOCK_FILE.test(name))
    for (const name of files.sort()) {
      const file = join(folder, name)
      yield { group, file, exported: await importDefault(pathToFileURL(file)) }
    }
  }
}

async function foldersIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

function checked({ group, file, exported }: BlockModule): FoundBlock {
  const problems = definitionProblems(exported, basename(file, '.ts'))
  if (problems.length > 0 || !isDefinition(exported))
    throw new Error(`${file}: The block ${problems.join('; it ')}.`)
  return { group, file, definition: exported }
}

async function importDefault(url: URL): Promise<unknown> {
  try {
    const module: { readonly default?: unknown } = await import(url.href)
    return module.default
  } catch (error) {
    throw new Error(`${fileURLToPath(url)}: The block cannot be loaded.`, { cause: error })
  }
}

function catalogueOf(found: readonly FoundBlock[]): ReadonlyMap<string, BlockDefinition> {
  const catalogue = new Map<string, BlockDefinition>()
  const files = new Map<string, string>()
  for (const { definition, file } of found) {
    for (const name of [definition.identifier, ...(definition.aliases ?? [])]) {
      const taken = files.get(name)
      if (taken !== undefined)
        throw new Error(`${file}: The block takes the name ${name}, which ${taken} has.`)
      files.set(name, file)
      catalogue.set(name, definition)
    }
  }
  return catalogue
}
