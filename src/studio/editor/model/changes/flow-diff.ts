/** What differs between two states of a blueprint, per block and pin, in words that a person reads before deploying. */

import type { BlockContent, SavedInPin } from '../../../../shared/blueprint.ts'
import { isJsonObject, type JsonValue } from '../../../../shared/json.ts'
import { sameJson } from '../../../../shared/same-json.ts'
import { modelTexts } from '../../../texts/model.ts'
import { sameContent, samePin } from '../../expressions/same-content.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { nameOf } from '../words/block-names.ts'
import { isEntrance, openTo } from '../words/open-to.ts'
import { cut, short } from '../words/words.ts'

export interface Line {
  /** A pin, a setting, or another part of the block. */
  readonly what: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface BlockChange {
  readonly guid: string
  readonly name: string
  readonly type: string
  readonly change: 'created' | 'updated' | 'removed'
  /** What is different; for a new or removed block what it has. */
  readonly lines: readonly Line[]
  /** Nothing but its place on the canvas: what runs is the same. */
  readonly drawingOnly: boolean
}

export function diffFlows(before: Flow, after: Flow, catalogue: Catalogue): BlockChange[] {
  const changes: BlockChange[] = []
  for (const [guid, content] of after) {
    const old = before.get(guid)
    if (!old) changes.push({ ...about(guid, content), change: 'created', lines: linesOf(undefined, content) })
    else if (!sameContent(old, content))
      changes.push({ ...about(guid, content), change: 'updated', ...updated(linesOf(old, content)) })
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

  function updated(lines: Line[]) {
    const drawingOnly = lines.every(
      ({ what }) => what === modelTexts.place || what === modelTexts.comment || what === modelTexts.title,
    )
    return { lines: drawingOnly ? lines : lines.filter(({ what }) => what !== modelTexts.place), drawingOnly }
  }

  function linesOf(old: BlockContent | undefined, now: BlockContent | undefined): Line[] {
    return [
      ...line(modelTexts.kind, old?.type, now?.type, (type) => catalogue.get(type)?.title ?? type),
      ...line(modelTexts.title, old?.title || undefined, now?.title || undefined, (text) => `“${text}”`),
      ...(old?.name && now?.name ? line(modelTexts.name, old.name, now.name, (text) => text) : []),
      ...pinLines(old, now),
      ...settingLines(old, now),
      ...line(modelTexts.openTo, scopesIn(old), scopesIn(now), (text) => text),
      ...line(modelTexts.customPins, customIn(old), customIn(now), (text) => text),
      ...line(modelTexts.comment, old?.description || undefined, now?.description || undefined, short),
      ...(old && now ? line(modelTexts.place, placeOf(old), placeOf(now), (text) => text) : []),
    ].filter(({ what }) => (old && now) || (what !== modelTexts.kind && what !== modelTexts.title))
  }

  /** Also where no scope is written: that is public, and users need not know this rule. */
  function scopesIn(content: BlockContent | undefined): string | undefined {
    return content && isEntrance(content, catalogue) ? openTo(content.scopes) : undefined
  }

  function pinLines(old: BlockContent | undefined, now: BlockContent | undefined): Line[] {
    // Compared by what is stored: a wire from a block with a new title is the same wire.
    const pin = (content: BlockContent | undefined, id: string) =>
      content?.in_pins.find((one) => one.id === id)
    return namesOf(old?.in_pins, now?.in_pins)
      .filter((id) => !old || !now || !samePin(pin(old, id), pin(now, id)))
      .flatMap((id) => line(id, pinText(old, id, before), pinText(now, id, after), (text) => text))
  }

  function pinText(content: BlockContent | undefined, id: string, flow: Flow): string | undefined {
    const pin = content?.in_pins.find((one) => one.id === id)
    if (!pin) return undefined
    if (pin.expression !== undefined) return `= ${cut(pin.expression, 60)}`
    if (!pin.from || pin.from.length === 0) return pin.value === undefined ? undefined : short(pin.value)
    return pin.from
      .map((end) => {
        const source = flow.get(end.block)
        return `← ${source ? nameOf(source, catalogue) : modelTexts.aRemovedBlock} · ${end.pin}`
      })
      .join(', ')
  }
}

function settingLines(old: BlockContent | undefined, now: BlockContent | undefined): Line[] {
  const names = new Set([...Object.keys(old?.fields ?? {}), ...Object.keys(now?.fields ?? {})])
  return [...names].flatMap((name) => {
    const [a, b] = [old?.fields[name], now?.fields[name]]
    return sameJson(a, b) ? [] : line(name, a, b, settingText)
  })
}

function settingText(value: JsonValue): string {
  return Array.isArray(value) ? value.map(itemText).join(', ') : short(value)
}

/** A name, or a field of a schema: `title (text, required, max_length 80)`. */
function itemText(item: JsonValue): string {
  if (typeof item === 'string') return item
  if (!isJsonObject(item) || typeof item.name !== 'string') return short(item)
  const { name, ...rest } = item
  const said = Object.entries(rest).map(([key, value]) => {
    if (key === 'type' && typeof value === 'string') return value
    return value === true ? key : `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`
  })
  return said.length === 0 ? name : `${name} (${said.join(', ')})`
}

function line<T>(
  what: string,
  before: T | undefined,
  after: T | undefined,
  text: (value: T) => string,
): Line[] {
  const [a, b] = [
    before === undefined ? undefined : text(before),
    after === undefined ? undefined : text(after),
  ]
  return a === b ? [] : [{ what, before: a, after: b }]
}

function customIn(content: BlockContent | undefined): string | undefined {
  const pins = content?.custom_out_pins ?? []
  return pins.length === 0 ? undefined : pins.map(({ id, type }) => `${id} (${type})`).join(', ')
}

function placeOf({ position }: BlockContent): string {
  return `${position.x}, ${position.y}`
}

function namesOf(...lists: readonly (readonly SavedInPin[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((pins) => (pins ?? []).map(({ id }) => id)))]
}
