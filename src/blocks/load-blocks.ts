import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SECRET_PIN } from '../shared/names/stored-names.ts'
import { pinTypes } from '../shared/pin-type.ts'
import type { BlockDefinition } from './block.ts'
import { type BlockModule, bundledBlocks } from './bundled-blocks.ts'
import type { InPin, OutPin } from './pin.ts'
import { converterFor } from './pins/convert-pin.ts'
import { settingProblem } from './pins/read-settings.ts'
import type { Setting } from './setting.ts'

/** An identifier has no hyphen, and a test has a second dot. `scripts/build-program.mjs` goes by the same. */
const BLOCK_FILE = /^\w+\.ts$/

/** A block and where it was found. */
export interface FoundBlock {
  /** The folder: what the palette groups by. */
  readonly group: string
  readonly file: string
  readonly definition: BlockDefinition
}

/** The blocks of Quoin, and more. */
export class ExtendedCatalogue extends Map<string, BlockDefinition> {
  /** Those of Quoin: what is counted of blocks on this node belongs to them. */
  readonly own: ReadonlyMap<string, BlockDefinition>

  constructor(own: ReadonlyMap<string, BlockDefinition>) {
    super(own)
    this.own = own
  }
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

const NAME = /^[a-z][a-z0-9_]*$/
const ALIAS = /^[a-z][a-z0-9_ ]*$/
/** What a flow block's result uses beside its pins. */
const RESERVED = 'next'

/** Everything that is wrong with what a block's file exports, in words that finish the sentence "The block …". */
export function definitionProblems(exported: unknown, fileName: string): string[] {
  if (!isDefinition(exported)) return ['is no default export of defineValue, defineFlow or defineTrigger']
  const { identifier, aliases = [], title, summary } = exported
  const problems: string[] = []
  if (identifier !== fileName) problems.push(`calls itself ${identifier} and must be called as its file`)
  if (!NAME.test(identifier)) problems.push('may have only a–z, 0–9 and _ in its identifier')
  for (const alias of aliases) if (!ALIAS.test(alias)) problems.push(`has the alias ${JSON.stringify(alias)}`)
  if (isBlank(title)) problems.push('has no title')
  if (isBlank(summary)) problems.push('has no summary')
  for (const [id, pin] of Object.entries(exported.in)) problems.push(...inPinProblems(id, pin))
  for (const [id, pin] of Object.entries(exported.out)) problems.push(...pinProblems('out', id, pin))
  for (const [id, setting] of Object.entries(exported.settings))
    problems.push(...settingProblems(id, setting))
  return [...problems, ...kindProblems(exported)]
}

export function isDefinition(exported: unknown): exported is BlockDefinition {
  if (typeof exported !== 'object' || exported === null || !('kind' in exported)) return false
  if (!('in' in exported && 'out' in exported && 'settings' in exported)) return false
  return exported.kind === 'value' || exported.kind === 'flow' || exported.kind === 'trigger'
}

function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === ''
}

function pinProblems(side: 'in' | 'out', id: string, pin: InPin | OutPin): string[] {
  const name = `the ${side}-pin ${id}`
  const problems: string[] = []
  if (!NAME.test(id)) problems.push(`has ${name}, which may have only a–z, 0–9 and _`)
  if (id === RESERVED) problems.push(`has ${name}, a word that is taken`)
  if (isBlank(pin.help)) problems.push(`has no help for ${name}`)
  if (!pinTypes.includes(pin.type)) problems.push(`has ${name} of the unknown type ${pin.type}`)
  return problems
}

function inPinProblems(id: string, pin: InPin): string[] {
  const problems = pinProblems('in', id, pin)
  if ((pin.type === 'secret') !== SECRET_PIN.test(id))
    problems.push(
      `has the in-pin ${id}: pins of secrets, and no others, are called secret or end with _secret`,
    )
  if (pin.default === undefined) return problems
  if (pin.required) problems.push(`has the in-pin ${id}, which is required and has a default: one of the two`)
  if (pin.several)
    problems.push(`has the in-pin ${id}, which takes several and has a default: one of the two`)
  const { default: value, ...plain } = pin
  try {
    converterFor(id, plain, 'any')(value)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'does not fit'
    problems.push(`has a default for the in-pin ${id} that the pin refuses: ${why}`)
  }
  return problems
}

function settingProblems(id: string, setting: Setting): string[] {
  const problems: string[] = []
  if (!NAME.test(id)) problems.push(`has the setting ${id}, which may have only a–z, 0–9 and _`)
  if (isBlank(setting.help)) problems.push(`has no help for the setting ${id}`)
  if (!('default' in setting) || setting.default === undefined) return problems
  const problem = settingProblem(setting, setting.default)
  if (problem) problems.push(`has a default for the setting ${id} that ${problem}`)
  return problems
}

function kindProblems(definition: BlockDefinition): string[] {
  const ins = Object.values(definition.in)
  const outs = Object.values(definition.out)
  const problems: string[] = []
  if (definition.kind !== 'flow' && ins.some((pin) => pin.type === 'flow'))
    problems.push(`is a ${definition.kind} block and has a flow in-pin`)
  if (definition.kind === 'value' && outs.some((pin) => pin.type === 'flow' && !pin.event))
    problems.push('is a value block and has a flow out-pin')
  if (outs.some((pin) => pin.event) && outs.filter((pin) => pin.event && pin.type === 'flow').length !== 1)
    problems.push('has event pins, of which one and only one must be a flow pin')
  if (definition.kind !== 'value' && outs.some((pin) => pin.event))
    problems.push(`is a ${definition.kind} block and has an event pin`)
  const isNamed = ({ type }: InPin | OutPin) => type === 'secret' || type === 'http_connection'
  if (definition.kind !== 'flow' && ins.some(isNamed))
    problems.push(`is a ${definition.kind} block and has a pin for a secret or a connection`)
  if (outs.some(isNamed)) problems.push('gives a secret or a connection')
  if (ins.some((pin) => pin.perFrame) !== outs.some((pin) => pin.frame))
    problems.push('must have perFrame in-pins and frame out-pins, or neither')
  return problems
}
