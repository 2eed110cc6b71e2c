import type { BlockDefinition } from '../../blocks/block.ts'
import { readSettings } from '../../blocks/pins/read-settings.ts'
import { namesOf } from '../../expressions/language/expression.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Steps } from '../../shared/cooperative.ts'
import type { FieldRule, FieldsOf } from '../../shared/field-rule.ts'
import { sameJson } from '../../shared/json.ts'
import {
  type CompiledPart,
  compilePart,
  findingsOf,
  type OfBlueprint,
  type PartFindings,
  type PartOrProblems,
  type PresentFacts,
} from './compile-part.ts'
import { isFrameName, isRunName } from './expressions/run-names.ts'
import { claimsOf } from './read-triggers.ts'

/** Blocks that are compiled together. */
interface PartBlocks {
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
function* partsOf(blocks: readonly Block[], { catalogue, names }: OfBlueprint): Steps<readonly PartBlocks[]> {
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

// Flows of a blueprint that share no run are compiled apart, so that a deploy compiles only those that changed. Of 500 blocks with
// one changed, this takes a tenth of the processor time. Constants that several flows read, such as the name of a storage, are
// compiled with each of them. Custom functions are compiled with the flows that call them.

/** A compiled part, and what it was compiled of. */
export interface BlueprintPart extends PartBlocks {
  readonly ofAll: OfBlueprint
  readonly compiled: CompiledPart
  readonly said: Said
}

/** What is said of a part, and by which facts. */
interface Said {
  readonly facts: Omit<PresentFacts, 'fieldsOf'>
  /** What was asked of `fieldsOf`; undefined where there was none. */
  readonly fields: AskedFields | undefined
  readonly findings: PartFindings
}

interface AskedFields {
  readonly rules: ReadonlyMap<string, readonly FieldRule[]>
  readonly closed: ReadonlyMap<string, boolean>
}

/** Undefined when something is wrong with one of the parts, or with two of them together. `former`: parts of the same blueprint. */
export function* compileParts(
  blocks: readonly Block[],
  ofAll: OfBlueprint,
  former: readonly BlueprintPart[],
  present: PresentFacts,
): Steps<readonly BlueprintPart[] | undefined> {
  const before = new Map(former.map((part) => [part.key, part]))
  const parts: BlueprintPart[] = []
  const claims = new Set<string>()
  for (const found of yield* partsOf(blocks, ofAll)) {
    const known = before.get(found.key)
    const same = known && isSame(known, found, ofAll) ? known : undefined
    const compiled = same?.compiled ?? (yield* compilePart(found.blocks, ofAll)).part
    if (!compiled) return undefined
    for (const trigger of compiled.triggers) {
      for (const { key } of claimsOf(trigger)) {
        if (claims.has(key)) return undefined
        claims.add(key)
      }
    }
    const said = (same && stillSaid(same.said, present)) ?? (yield* saidOf(compiled, present))
    parts.push({ ...(same ?? found), ofAll, compiled, said })
    yield
  }
  return parts
}

type OneOrProblems =
  | { readonly part: BlueprintPart; readonly problems: readonly []; readonly deep: false }
  | Extract<PartOrProblems, { part: undefined }>

/** The whole blueprint as one part. */
export function* compileAsOne(
  blocks: readonly Block[],
  ofAll: OfBlueprint,
  present: PresentFacts,
): Steps<OneOrProblems> {
  const compiled = yield* compilePart(blocks, ofAll)
  if (!compiled.part) return compiled
  const said = yield* saidOf(compiled.part, present)
  const part = { key: '', blocks, links: [], ofAll, compiled: compiled.part, said }
  return { part, problems: [], deep: false }
}

function isSame(known: BlueprintPart, found: PartBlocks, ofAll: OfBlueprint): boolean {
  return (
    known.ofAll.catalogue === ofAll.catalogue &&
    known.ofAll.keepsRawBody === ofAll.keepsRawBody &&
    sameJson(known.links, found.links) &&
    sameJson(known.blocks, found.blocks)
  )
}

function* saidOf(part: CompiledPart, { fieldsOf, ...facts }: PresentFacts): Steps<Said> {
  if (!fieldsOf) return { facts, fields: undefined, findings: yield* findingsOf(part, facts) }
  const rules = new Map<string, readonly FieldRule[]>()
  const closed = new Map<string, boolean>()
  const asked: FieldsOf = Object.assign(
    (storage: string) => {
      const found = fieldsOf(storage)
      rules.set(storage, found)
      return found
    },
    {
      isClosed(storage: string) {
        const found = isClosed(fieldsOf, storage)
        closed.set(storage, found)
        return found
      },
    },
  )
  const findings = yield* findingsOf(part, { ...facts, fieldsOf: asked })
  return { facts, fields: { rules, closed }, findings }
}

function isClosed(fieldsOf: FieldsOf, storage: string): boolean {
  return fieldsOf.isClosed?.(storage) === true
}

/** The same findings, where the facts that they depend on are the same; it holds on to the facts of now alone. */
function stillSaid(
  { facts: before, fields, findings }: Said,
  { fieldsOf, ...facts }: PresentFacts,
): Said | undefined {
  if (!sameJson(before, facts)) return undefined
  if (!fields || !fieldsOf) return fields || fieldsOf ? undefined : { facts, fields, findings }
  const rules = new Map(fields.rules.keys().map((storage) => [storage, fieldsOf(storage)]))
  if (!rules.entries().every(([storage, now]) => sameJson(now, fields.rules.get(storage)))) return undefined
  if (!fields.closed.entries().every(([storage, was]) => was === isClosed(fieldsOf, storage)))
    return undefined
  return { facts, fields: { rules, closed: fields.closed }, findings }
}
