/** What differs between two states of a blueprint, per block and pin, in words that a person reads before deploying. */
import type { BlockContent, SavedInPin } from '../../../../shared/blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf, sameJson } from '../../../../shared/json.ts'
import { exactText, type ValueLine, valueLines, valueText } from '../../../../shared/value-differences.ts'
import { modelTexts } from '../../../texts/editor.ts'
import { sameContent, samePin } from '../../expressions/same-content.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { nameOf } from '../words/block-names.ts'
import { isEntrance, openTo } from '../words/open-to.ts'

/** The texts are whole: only what shows them cuts them. */
export interface Line {
  /** A pin, a setting, a part of their value (`columns › price › currency`), or another part of the block. */
  readonly what: string
  readonly before: string | undefined
  readonly after: string | undefined
  /** Only drawn: runs are the same. */
  readonly isDrawing?: true
}

export interface BlockChange {
  readonly guid: string
  readonly name: string
  readonly type: string
  readonly change: 'created' | 'updated' | 'removed'
  /** What is different; for a new or removed block what it has. */
  readonly lines: readonly Line[]
  /** Place, title, name or comment: what runs is the same. */
  readonly drawingOnly: boolean
}

type Content = BlockContent | undefined
type Value = JsonValue | undefined

interface Compared {
  readonly before: Flow
  readonly after: Flow
  readonly catalogue: Catalogue
}

export function diffFlows(before: Flow, after: Flow, catalogue: Catalogue): BlockChange[] {
  const changes: BlockChange[] = []
  for (const [guid, content] of after) {
    const old = before.get(guid)
    if (!old) changes.push({ ...about(guid, content), change: 'created', lines: linesOf(undefined, content) })
    else if (!sameContent(old, content)) {
      const lines = linesOf(old, content)
      const drawingOnly = lines.every(({ isDrawing }) => isDrawing)
      // Pins in another order are no difference.
      if (lines.length > 0) changes.push({ ...about(guid, content), change: 'updated', lines, drawingOnly })
    }
  }
  for (const [guid, content] of before) {
    if (!after.has(guid))
      changes.push({ ...about(guid, content), change: 'removed', lines: linesOf(content, undefined) })
  }
  return changes.toSorted((a, b) => Number(a.drawingOnly) - Number(b.drawingOnly))

  function about(guid: string, content: BlockContent) {
    const type = catalogue.get(content.type)?.title ?? content.type
    return { guid, name: nameOf(content, catalogue), type, drawingOnly: false }
  }

  function linesOf(old: Content, now: Content): Line[] {
    const isChange = old !== undefined && now !== undefined
    return [
      ...(isChange ? line(modelTexts.kind, old.type, now.type, typeText, exactText) : []),
      ...pinLines(old, now, { before, after, catalogue }),
      ...settingLines(old, now),
      ...scopeLines(old, now),
      ...line(modelTexts.customPins, customIn(old), customIn(now), customText, exactText),
      ...(isChange ? drawingLines(old, now) : []),
    ]
  }

  function typeText(type: string): string {
    return catalogue.get(type)?.title ?? type
  }

  /** Also where no scope is written: that is public, and users need not know this rule. */
  function scopeLines(old: Content, now: Content): Line[] {
    const scopes = (content: Content) =>
      content && (isEntrance(content, catalogue) || content.scopes.length > 0) ? content.scopes : undefined
    const exact = (list: readonly string[]) => `${openTo(list)}: ${JSON.stringify(list)}`
    return line(modelTexts.openTo, scopes(old), scopes(now), openTo, exact)
  }
}

/**
 * What differs between two texts of a file of an application: of a blueprint by block, of a storage by field, of other JSON by its parts. What
 * is no JSON, or is not any longer, is one line.
 */
export function diffFiles(
  path: string,
  before: string | undefined,
  after: string | undefined,
): BlockChange[] {
  const [was, is] = [objectOf(before), objectOf(after)]
  const isRead = (before === undefined || was !== undefined) && (after === undefined || is !== undefined)
  if (!path.endsWith('.json') || !isRead) {
    const lines = before === after ? [] : [{ what: modelTexts.text, before, after }]
    return [fileChange(path, path, before, after, lines)]
  }
  const [key] = path.startsWith('blueprints/') ? ['blocks'] : path.startsWith('storages/') ? ['fields'] : []
  if (key === undefined) return changed(path, '', was, is)
  const { [key]: wasParts, layout: wasPlaces, ...wasRest } = was ?? {}
  const { [key]: isParts, layout: isPlaces, ...isRest } = is ?? {}
  const [old, now] = [partsIn(wasParts), partsIn(isParts)]
  const names = [...new Set([...Object.keys(now), ...Object.keys(old)])]
  return [
    ...changed(path, '', was && wasRest, is && isRest),
    ...names.flatMap((name) => changed(name, key, memberOf(old, name), memberOf(now, name))),
    ...placeChanges(partsIn(wasPlaces), partsIn(isPlaces), now),
  ]
}

function changed(name: string, of: string, before: Value, after: Value): BlockChange[] {
  if (sameJson(before, after)) return []
  // Pins and settings by themselves, also where all of them are new.
  const none: JsonObject = of === 'blocks' ? { in: {}, fields: {} } : {}
  const parted = (value: Value = {}) => (isJsonObject(value) ? { ...none, ...value } : value)
  const lines = ofValues(undefined, valueLines(parted(before), parted(after)))
  const kind = [after, before].map((one) => (isJsonObject(one) ? one.type : undefined)).find(Boolean)
  return [fileChange(name, typeof kind === 'string' ? kind : name, before, after, lines)]
}

function fileChange(name: string, type: string, before: unknown, after: unknown, lines: Line[]): BlockChange {
  const change = before === undefined ? 'created' : after === undefined ? 'removed' : 'updated'
  return { guid: name, name, type, change, lines, drawingOnly: false }
}

/** Blocks that stand elsewhere; one that the file leaves out stays where it is. */
function placeChanges(before: JsonObject, after: JsonObject, blocks: JsonObject): BlockChange[] {
  return Object.keys(after).flatMap((name): BlockChange[] => {
    const [was, is, block] = [memberOf(before, name), memberOf(after, name), memberOf(blocks, name)]
    if (was === undefined || is === undefined || block === undefined || sameJson(was, is)) return []
    const lines = [
      { what: modelTexts.place, before: valueText(was), after: valueText(is), isDrawing: true } as const,
    ]
    const type = isJsonObject(block) && typeof block.type === 'string' ? block.type : name
    return [{ guid: `${name}@`, name, type, change: 'updated', lines, drawingOnly: true }]
  })
}

function objectOf(text: string | undefined): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? '')
    if (!isJsonObject(parsed)) return undefined
    // For editors of code.
    const { $schema: _, ...rest } = parsed
    return rest
  } catch {
    return undefined
  }
}

function partsIn(value: Value): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The changes whose block or one of whose lines has the text. */
export function changesWith(changes: readonly BlockChange[], text: string): readonly BlockChange[] {
  const requested = text.trim().toLowerCase()
  const has = (one: string | undefined) => one?.toLowerCase().includes(requested) === true
  if (requested === '') return changes
  return changes.filter(
    ({ name, type, lines }) =>
      has(name) ||
      has(type) ||
      lines.some(({ what, before, after }) => has(what) || has(before) || has(after)),
  )
}

/** What only a person sees of a block. */
function drawingLines(old: BlockContent, now: BlockContent): Line[] {
  const reported = (text: string | undefined) => text || undefined
  const isNamed = old.name !== undefined && now.name !== undefined
  return [
    ...line(modelTexts.title, reported(old.title), reported(now.title), valueText, exactText),
    ...(isNamed ? line(modelTexts.name, reported(old.name), reported(now.name), String, String) : []),
    ...line(modelTexts.comment, reported(old.description), reported(now.description), valueText, exactText),
    ...line(modelTexts.place, placeOf(old), placeOf(now), String, String),
  ].map((one): Line => ({ ...one, isDrawing: true }))
}

function pinLines(old: Content, now: Content, { before, after, catalogue }: Compared): Line[] {
  const [was, is] = [heldPins(old), heldPins(now)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((id): Line[] => {
    const [a, b] = [was.get(id) ?? [], is.get(id) ?? []]
    // Compared by what is stored: a wire from a block with a new title is the same wire.
    if (a.length === b.length && a.every((pin, at) => samePin(pin, b[at]))) return []
    const [from, to] = [literalOf(a), literalOf(b)]
    if (from !== undefined && to !== undefined) return ofValues(id, valueLines(from, to))
    const text = (pins: readonly SavedInPin[], flow: Flow, isExact: boolean) =>
      pins.length === 0 ? undefined : pins.map((pin) => pinText(pin, flow, catalogue, isExact)).join(', ')
    const [one, other] = [text(a, before, false), text(b, after, false)]
    const isAlike = one === other
    return [
      {
        what: id,
        before: isAlike ? text(a, before, true) : one,
        after: isAlike ? text(b, after, true) : other,
      },
    ]
  })
}

/** All that a pin holds. `isExact`: with the guids of blocks, which tell two with the same title apart. */
function pinText(pin: SavedInPin, flow: Flow, catalogue: Catalogue, isExact: boolean): string {
  const { expression, from = [], value, refs } = pin
  const meant = isExact && refs ? ` (${JSON.stringify(refs)})` : ''
  return [
    ...(expression === undefined ? [] : [`= ${expression}${meant}`]),
    ...from.map((end) => {
      const source = flow.get(end.block)
      const name = source ? nameOf(source, catalogue) : modelTexts.aRemovedBlock
      const exact = isExact ? ` (${[source?.name, end.block].filter(Boolean).join(' ')})` : ''
      return `← ${name}${exact} · ${end.pin}`
    }),
    ...(value === undefined ? [] : [isExact ? exactText(value) : valueText(value)]),
  ].join(', ')
}

/** By id. One that holds nothing is no pin; an id may be there twice. */
function heldPins(content: Content): ReadonlyMap<string, SavedInPin[]> {
  const pins = (content?.in_pins ?? []).flatMap(({ from = [], ...pin }): SavedInPin[] => {
    if (from.length > 0) return [{ ...pin, from }]
    return pin.value === undefined && pin.expression === undefined ? [] : [pin]
  })
  return Map.groupBy(pins, ({ id }) => id)
}

function literalOf([pin, ...others]: readonly SavedInPin[]): JsonValue | undefined {
  return pin && others.length === 0 && !pin.from && pin.expression === undefined ? pin.value : undefined
}

function settingLines(old: Content, now: Content): Line[] {
  return ofValues(undefined, valueLines(old?.fields ?? {}, now?.fields ?? {}))
}

function ofValues(first: string | undefined, lines: Iterable<ValueLine>): Line[] {
  return [...lines].flatMap(({ path, before, after }) => {
    const what = (first === undefined ? path : [first, ...path]).join(' › ')
    return line(what, before, after, valueText, exactText)
  })
}

/** A line where the values differ. Where they read alike, they are written exactly. */
function line<T extends JsonValue | readonly string[]>(
  what: string,
  before: T | undefined,
  after: T | undefined,
  text: (value: T) => string,
  exact: (value: T) => string,
): Line[] {
  if (sameJson(before, after)) return []
  const isAlike = before !== undefined && after !== undefined && text(before) === text(after)
  const reported = (value: T | undefined) =>
    value === undefined ? undefined : (isAlike ? exact : text)(value)
  return [{ what, before: reported(before), after: reported(after) }]
}

function customIn(content: Content): JsonValue | undefined {
  const pins = content?.custom_out_pins ?? []
  return pins.length === 0 ? undefined : pins.map(({ id, type }) => `${id} (${type})`)
}

function customText(pins: JsonValue): string {
  return Array.isArray(pins) ? pins.join(', ') : exactText(pins)
}

function placeOf({ position }: BlockContent): string {
  return `${position.x}, ${position.y}`
}
