import type { BlockDefinition } from '../../blocks/block.ts'
import { readSettings } from '../../blocks/pins/read-settings.ts'
import { namesOf } from '../../expressions/language/expression-names.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Steps } from '../../shared/cooperative.ts'
import type { OfBlueprint } from './compile-part.ts'
import { isFrameName, isRunName } from './expressions/run-names.ts'

/** Blocks that are compiled together. */
export interface PartBlocks {
  /** Guid of the first block that no other part has; empty for constants that no flow reads. */
  readonly key: string
  /** In the order of the blueprint. */
  readonly blocks: readonly Block[]
  /** Of each block its name, and the guids of the blocks that its expressions name. */
  readonly links: readonly string[]
}

/** Constants are compiled once for each part that reads them; where this would be more than so many times as much, all is one part. */
const MOST_AGAIN = 3

interface Uses {
  /** Blocks that its expressions name, with the guid that was saved with the name. */
  readonly blocks: readonly { readonly name: string; readonly ref: string | undefined }[]
  readonly ofRun: boolean
}

/** A block never changes. */
const known = new WeakMap<Block, Uses>()

function usesOf(block: Block): Uses {
  const before = known.get(block)
  if (before) return before
  const all = block.in_pins.flatMap(({ expression, refs = {} }) => {
    const parsed = expression === undefined ? undefined : parseExpression(expression).expression
    return parsed ? namesOf(parsed).map((use) => ({ ...use, ref: refs[use.name] })) : []
  })
  const isBlock = (use: (typeof all)[number]) =>
    use.inBlocks || !(isRunName(use.name) || isFrameName(use.name))
  const uses = {
    blocks: all.filter(isBlock).map(({ name, ref }) => ({ name, ref })),
    ofRun: !all.every(isBlock),
  }
  known.set(block, uses)
  return uses
}

/** Which blocks run together, by wires, names in expressions and calls of custom functions. */
export function* partsOf(
  blocks: readonly Block[],
  { catalogue, names }: OfBlueprint,
): Steps<readonly PartBlocks[]> {
  const places = new Map(blocks.map(({ guid }, at) => [guid, at]))
  const named = new Map(blocks.map(({ guid }, at) => [names.get(guid) ?? '', at]))
  const links: string[][] = []
  const sources: number[][] = []
  for (const block of blocks) {
    yield
    const wired = block.in_pins.flatMap(({ from = [] }) => from.map((end) => places.get(end.block) ?? -1))
    const read = usesOf(block).blocks.map(({ name, ref }) => places.get(ref ?? '') ?? named.get(name) ?? -1)
    sources.push([...new Set([...wired, ...read])].filter((at) => at >= 0))
    links.push([names.get(block.guid) ?? '', ...read.map((at) => blocks[at]?.guid ?? '')])
  }
  const isConstant = yield* constantsAmong(blocks, sources, catalogue)
  const groups = yield* joined(blocks, sources, isConstant, catalogue)
  const unread = new Set(blocks.keys().filter((at) => isConstant[at]))
  const parts: { key: string; places: ReadonlySet<number> }[] = []
  let total = 0
  for (const group of groups) {
    const all = new Set(group)
    for (const at of all) for (const source of sources[at] ?? []) if (isConstant[source]) all.add(source)
    for (const at of all) unread.delete(at)
    total += all.size
    if (total > MOST_AGAIN * blocks.length) return [{ key: '', blocks, links: links.flat() }]
    parts.push({ key: blocks[group[0] ?? 0]?.guid ?? '', places: all })
    yield
  }
  for (const at of unread) for (const source of sources[at] ?? []) unread.add(source)
  if (unread.size > 0) parts.push({ key: '', places: unread })
  return parts.map(({ key, places: all }) => {
    const sorted = [...all].sort((a, b) => a - b)
    return {
      key,
      blocks: sorted.flatMap((at) => blocks[at] ?? []),
      links: sorted.flatMap((at) => links[at] ?? []),
    }
  })
}

/** Whether each block gives the same in every flow that reads it, whatever else reads it. */
function* constantsAmong(
  blocks: readonly Block[],
  sources: readonly (readonly number[])[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Steps<readonly boolean[]> {
  const readers: number[][] = blocks.map(() => [])
  for (const [at, all] of sources.entries()) for (const source of all) readers[source]?.push(at)
  const isConstant = blocks.map((block) => isPure(catalogue.get(block.type)) && !usesOf(block).ofRun)
  const others = new Set(blocks.keys().filter((at) => !isConstant[at]))
  for (const at of others) {
    yield
    isConstant[at] = false
    for (const reader of readers[at] ?? []) others.add(reader)
  }
  return isConstant
}

function isPure(definition: BlockDefinition | undefined): boolean {
  if (definition?.kind !== 'value' || definition.moreOut) return false
  if (definition.readsRun || definition.readsAddress || definition.readsClock) return false
  if (definition.readsVariables || definition.fromRequest) return false
  const pins = [...Object.values(definition.in), ...Object.values(definition.out)]
  return pins.every((pin) => !('perFrame' in pin || 'frame' in pin || 'event' in pin))
}

/** The other blocks, in groups that hang together. */
function* joined(
  blocks: readonly Block[],
  sources: readonly (readonly number[])[],
  isConstant: readonly boolean[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Steps<readonly (readonly number[])[]> {
  const roots = blocks.map((_block, at) => at)
  const rootOf = (at: number): number => {
    let root = at
    for (let next = roots[root] ?? root; next !== root; next = roots[root] ?? root) {
      roots[root] = roots[next] ?? next
      root = next
    }
    return root
  }
  const join = (one: number, other: number) => {
    const [a, b] = [rootOf(one), rootOf(other)]
    roots[Math.max(a, b)] = Math.min(a, b)
  }
  const functions = functionsIn(blocks, catalogue)
  const firstOf = new Map<string, number>()
  for (const at of blocks.keys()) {
    yield
    if (isConstant[at]) continue
    for (const source of sources[at] ?? []) if (!isConstant[source]) join(at, source)
    for (const name of functions.get(at) ?? []) {
      const first = firstOf.get(name)
      if (first === undefined) firstOf.set(name, at)
      else join(at, first)
    }
  }
  const groups = Map.groupBy(
    blocks.keys().filter((at) => !isConstant[at]),
    rootOf,
  )
  return [...groups.values()]
}

/** Names of the custom functions that each block defines or calls. Where one is not written out, it may be any of them. */
function functionsIn(
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): ReadonlyMap<number, readonly string[]> {
  const names = new Map<number, readonly string[]>()
  let isWritten = true
  for (const [at, block] of blocks.entries()) {
    const definition = catalogue.get(block.type)
    if (definition?.kind === 'trigger' && definition.on === 'function')
      names.set(at, [String(readSettings(definition.settings, block.fields).values.name).trim()])
    const pins = Object.entries(definition?.in ?? {}).filter(([, { type }]) => type === 'function')
    const called = pins.map(([id]) => block.in_pins.find((pin) => pin.id === id)?.value)
    if (called.length === 0) continue
    isWritten &&= called.every((name) => typeof name === 'string')
    names.set(
      at,
      called.map((name) => String(name).trim()),
    )
  }
  return isWritten ? names : new Map(names.keys().map((at) => [at, ['']]))
}
