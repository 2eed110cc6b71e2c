import { normalizedText } from '../texts/normalized-text.ts'

/**
 * Names of blocks: what expressions, files and logs call a block. Unique in a blueprint. A block that was given none gets one
 * from its title, else from its type.
 */

/** As a JSON schema wants it. */
export const BLOCK_NAME = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

export function isBlockName(text: string): boolean {
  return new RegExp(BLOCK_NAME).test(text)
}

/** Names in expressions that mean something else: a block of such a name is written `blocks.NAME`, so none is given one. */
const reserved: ReadonlySet<string> = new Set([
  ...['params', 'query', 'body', 'headers', 'user', 'request', 'env', 'doc', 'item', 'index', 'blocks'],
  ...[
    'true',
    'false',
    'null',
    'undefined',
    'in',
    'do',
    'if',
    'for',
    'new',
    'try',
    'var',
    'case',
    'else',
    'enum',
  ],
  ...[
    'this',
    'void',
    'with',
    'await',
    'break',
    'catch',
    'class',
    'const',
    'super',
    'throw',
    'while',
    'yield',
  ],
  ...[
    'delete',
    'export',
    'import',
    'return',
    'switch',
    'typeof',
    'default',
    'extends',
    'finally',
    'continue',
  ],
  ...['debugger', 'function', 'instanceof', 'let', 'static'],
])

/** Whether the name alone means something else than a block: a block of this name is written `blocks.NAME`. */
export function isReservedName(name: string): boolean {
  return reserved.has(name)
}

/** What the name of a block is made from. */
export interface Named {
  readonly guid: string
  readonly name?: string | undefined
  readonly title: string
  readonly type: string
}

/** The name of each block by its guid. Names that were given stay; the same blocks in the same order get the same others. */
export function blockNames(blocks: readonly Named[]): ReadonlyMap<string, string> {
  const used = new Set<string>()
  const names = new Map<string, string>()
  for (const { guid, name } of blocks) {
    if (!name || used.has(name)) continue
    used.add(name)
    names.set(guid, name)
  }
  for (const name of reserved) used.add(name)
  // Where the last block of this base stopped, so that 10,000 blocks of one title are not counted from 2 each.
  const reached = new Map<string, number>()
  for (const block of blocks) {
    if (names.has(block.guid)) continue
    const base = nameBase(block)
    let n = reached.get(base) ?? 1
    let name = n === 1 ? base : `${base}_${n}`
    while (used.has(name)) {
      n += 1
      name = `${base}_${n}`
    }
    reached.set(base, n)
    used.add(name)
    names.set(block.guid, name)
  }
  return names
}

/** The name that a block without one gets if it is free; else with `_` and a number. Room is left for that. */
export function nameBase({ title, type }: Pick<Named, 'title' | 'type'>): string {
  const words = normalizedText(title || type, 'NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
  return `${/^[a-z]/.test(words) ? '' : 'b'}${words}`.replace(/(?<!_)_+$/, '').slice(0, 50) || 'block'
}
