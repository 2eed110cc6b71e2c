/**
 * A blueprint as a file: for export, git and examples. Names of blocks instead of guids, keys in a fixed order, the
 * layout apart from the logic, so that a diff shows what changed and nothing else.
 *
 *   { "name": "Tasks", "category": "Office", "tags": ["tasks"],
 *     "fields": [{ "storage": "tasks", "name": "title", "type": "string" }],
 *     "blocks": { "list": { "type": "function_search",
 *                           "in": { "storage": "@tasks.storage", "limit": 20, "flow": "@get.flow" },
 *                           "fields": {…}, "scopes": […] } },
 *     "layout": { "list": [150, 300] },
 *     "notes": [{ "kind": "note", "text": "…", "color": "yellow", "at": [100, 80], "size": [220, 90] }],
 *     "documents": { "tasks": [{ "title": "Try it" }] } }
 *
 * Its documents go into storages that never held one; an export has none. `groups`, `storages`, `fields` and `templates` are the parts of
 * `application-parts.ts`.
 *
 * A wire is "@block.pin"; several wires on one pin are a list of them. An expression is a text that starts with "=", such as
 * "=params.limit ?? 20". A literal that could be taken for one of them (text that starts with "@" or "=", or a list with a
 * text in it that starts with "@") stands as { "literal": … }, and so does an object with only that key. A pin is wired or
 * holds a value: a list of both is refused.
 */

import type { Block, CustomOutPin, SavedInPin } from '../blueprint.ts'
import type { BlueprintNote } from '../blueprint-note.ts'
import { placesFor } from '../canvas/file-layout.ts'
import { QuoinError } from '../errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, namedObject } from '../json.ts'
import { blockNames } from '../names/block-name.ts'
import { type ApplicationParts, partKinds } from './application-parts.ts'

interface FileBlock {
  type: string
  title?: string
  description?: string
  in?: Record<string, JsonValue>
  out?: CustomOutPin[]
  fields?: JsonObject
  scopes?: string[]
}

/** A remark or frame; like ids of blocks, its own is not part of the file. */
interface FileNote extends Omit<BlueprintNote, 'id' | 'position' | 'size'> {
  at: [number, number]
  size: [number, number]
}

export interface BlueprintFile {
  /** For editors; an export has none. */
  $schema?: string
  name: string
  description?: string
  category?: string
  tags?: string[]
  /** Names of values of the environment that the blocks read. For people: a program looks at the blocks. */
  env?: string[]
  /** Names of secrets that the blocks use, for people. */
  secrets?: string[]
  /** Names of HTTP connections that the blocks use, for people. */
  connections?: string[]
  groups?: JsonObject[]
  storages?: JsonObject[]
  fields?: JsonObject[]
  templates?: JsonObject[]
  blocks: Record<string, FileBlock>
  layout?: Record<string, [number, number]>
  notes?: FileNote[]
  /** By storage. */
  documents?: Record<string, JsonObject[]>
}

export interface ImportedBlueprint {
  readonly name: string
  readonly description: string
  /** Empty: none. */
  readonly category: string
  readonly tags: readonly string[]
  readonly blocks: readonly Block[]
  /** Remarks and frames on the canvas. */
  readonly notes: readonly BlueprintNote[]
}

/** The blueprint of a file whose shape was checked. Each block and note gets a guid of its own. Throws INVALID_BODY, naming the place. */
export function blueprintOfFile(file: BlueprintFile, newGuid: () => string): ImportedBlueprint {
  const guids = new Map(Object.keys(file.blocks).map((id) => [id, newGuid()]))
  const problems = new Map<string, string>()
  const pinOf = (place: string, pin: string, value: JsonValue): SavedInPin => {
    const found = readPin(place, pin, value, guids)
    if (typeof found !== 'string') return found
    problems.set(place, found)
    return { id: pin }
  }
  const read = Object.entries(file.blocks).map(([id, block]): Block => {
    const [x, y] = file.layout?.[id] ?? [0, 0]
    const pins = Object.entries(block.in ?? {})
    return {
      guid: guids.get(id) ?? '',
      name: id,
      type: block.type,
      title: block.title ?? '',
      description: block.description ?? '',
      position: { x, y },
      in_pins: pins.map(([pin, value]) => pinOf(`blocks.${id}.in.${pin}`, pin, value)),
      custom_out_pins: block.out ?? [],
      fields: block.fields ?? {},
      scopes: block.scopes ?? [],
    }
  })
  if (problems.size > 0) throw refusedFile(problems)
  const blocks = withPlaces(read, new Set(Object.keys(file.layout ?? {})))
  const notes = (file.notes ?? []).map(({ kind, text, color, at: [x, y], size: [width, height] }) => ({
    id: newGuid(),
    kind,
    text,
    color,
    position: { x, y },
    size: { width, height },
  }))
  const { name, description = '', category = '', tags = [] } = file
  return { name, description, category, tags, blocks, notes }
}

/** INVALID_BODY with all problems of a file, by their places: the message is the first. */
export function refusedFile(problems: ReadonlyMap<string, string>): QuoinError {
  const [first = ''] = problems.values()
  const reasons = problems.size > 1 ? Object.fromEntries(problems) : undefined
  return new QuoinError('INVALID_BODY', first, { fields: [...problems.keys()], reasons })
}

/** Blocks that the file gives no place stand in order, below those that it does. */
function withPlaces(blocks: readonly Block[], placed: ReadonlySet<string>): readonly Block[] {
  const [known, unknown] = [
    blocks.filter(({ name = '' }) => placed.has(name)),
    blocks.filter(({ name = '' }) => !placed.has(name)),
  ]
  if (unknown.length === 0) return blocks
  const places = placesFor(
    unknown,
    known.map(({ position }) => position),
  )
  return blocks.map((block) => ({ ...block, position: places.get(block.guid) ?? block.position }))
}

/** Or a sentence that says why it cannot be one. */
function readPin(
  place: string,
  id: string,
  value: JsonValue,
  guids: ReadonlyMap<string, string>,
): SavedInPin | string {
  if (typeof value === 'string' && isExpression(value)) return { id, expression: value.slice(1) }
  const wires = wireTexts(value)
  if (!wires && looksWired(value))
    return `${place} is a list of wires and of something else: a pin is wired or holds a value. If all of it is a value, write { "literal": [ … ] }.`
  if (!wires) return { id, value: isLiteral(value) ? (value.literal ?? null) : value }
  const from: { block: string; pin: string }[] = []
  for (const wire of wires) {
    const dot = wire.indexOf('.')
    const block = guids.get(wire.slice(1, dot))
    if (dot < 0 || block === undefined) return `${place} is wired to ${wire}, and there is no such block.`
    from.push({ block, pin: wire.slice(dot + 1) })
  }
  return { id, from }
}

/** The wires that a pin's value stands for; undefined for a literal. */
function wireTexts(value: JsonValue): string[] | undefined {
  const all: readonly JsonValue[] = Array.isArray(value) ? value : [value]
  const texts = all.filter((item): item is string => typeof item === 'string' && item.startsWith('@'))
  return texts.length > 0 && texts.length === all.length ? texts : undefined
}

/** Whether any of it could be taken for a wire. */
function looksWired(value: JsonValue): boolean {
  const all: readonly JsonValue[] = Array.isArray(value) ? value : [value]
  return all.some((item) => typeof item === 'string' && item.startsWith('@'))
}

function isExpression(value: JsonValue): boolean {
  return typeof value === 'string' && value.length > 1 && value.startsWith('=')
}

function isLiteral(value: JsonValue): value is { literal: JsonValue } {
  return isJsonObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, 'literal')
}

/** What a file says beside the blueprint itself. */
export interface FileSurroundings {
  /** Names of values of the environment that the expressions of the blocks read. */
  readonly env?: readonly string[]
  /** Names of secrets that the blocks use. */
  readonly secrets?: readonly string[]
  /** Names of HTTP connections that the blocks use. */
  readonly connections?: readonly string[]
  readonly parts?: ApplicationParts
}

/** The file of a blueprint. Reading it gives the same blueprint under other guids. */
export function exportBlueprint(
  blueprint: ImportedBlueprint,
  { env = [], secrets = [], connections = [], parts }: FileSurroundings = {},
): BlueprintFile {
  const names = blockNames(blueprint.blocks)
  const blocks: BlueprintFile['blocks'] = namedObject([])
  const layout: NonNullable<BlueprintFile['layout']> = namedObject([])
  for (const block of blueprint.blocks) {
    const id = names.get(block.guid) ?? block.guid
    const { title, description, fields, scopes, custom_out_pins: out } = block
    const pins = block.in_pins.flatMap((pin) => writePin(pin, names))
    blocks[id] = {
      type: block.type,
      ...(title === '' ? {} : { title }),
      ...(description === '' ? {} : { description }),
      ...(pins.length === 0 ? {} : { in: Object.fromEntries(pins) }),
      ...(out.length === 0 ? {} : { out }),
      ...(Object.keys(fields).length === 0 ? {} : { fields }),
      ...(scopes.length === 0 ? {} : { scopes }),
    }
    layout[id] = [block.position.x, block.position.y]
  }
  const { name, description, category, tags } = blueprint
  // Blocks have other guids where the file is read, so frames are expanded there, and lanes have nothing to be drawn.
  const notes = blueprint.notes
    .filter(({ collapsed }) => collapsed?.lane !== true)
    .map(
      ({ kind, text, color, position: { x, y }, size: { width, height } }): FileNote => ({
        kind,
        text,
        color,
        at: [x, y],
        size: [width, height],
      }),
    )
  return {
    name,
    ...(description === '' ? {} : { description }),
    ...(category === '' ? {} : { category }),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    ...(env.length === 0 ? {} : { env: [...env] }),
    ...(secrets.length === 0 ? {} : { secrets: [...secrets] }),
    ...(connections.length === 0 ? {} : { connections: [...connections] }),
    ...Object.fromEntries(
      partKinds.flatMap((kind) => (parts?.[kind].length ? [[kind, [...parts[kind]]]] : [])),
    ),
    blocks,
    layout,
    ...(notes.length === 0 ? {} : { notes }),
  }
}

function writePin(pin: SavedInPin, names: ReadonlyMap<string, string>): [string, JsonValue][] {
  const wires = (pin.from ?? []).map((end) => `@${names.get(end.block) ?? end.block}.${end.pin}`)
  const [first] = wires
  if (first !== undefined) return [[pin.id, wires.length === 1 ? first : wires]]
  if (pin.expression !== undefined) return [[pin.id, `=${pin.expression}`]]
  if (pin.value === undefined) return []
  const mistakable = looksWired(pin.value) || isLiteral(pin.value) || isExpression(pin.value)
  return [[pin.id, mistakable ? { literal: pin.value } : pin.value]]
}
