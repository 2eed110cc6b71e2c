/** Copying blocks within a blueprint, to another one, or through any text: the clipboard holds JSON. */

import type { BlockContent, SavedInPin } from '../../../../shared/blueprint.ts'
import { isJsonObject, type JsonValue } from '../../../../shared/json.ts'
import { isBlockName } from '../../../../shared/names/block-name.ts'
import { pinTypes } from '../../../../shared/pin-type.ts'
import { namesInFlow, type Refs } from '../../expressions/block-refs.ts'
import { withNames } from '../../expressions/print-names.ts'
import { type Flow, withBlock } from '../flow.ts'

const FORMAT = 'quoin/blocks@1'

/** The blocks as text. Wires from blocks outside come along: they are kept if pasted where those blocks are. */
export function copyText(flow: Flow, guids: ReadonlySet<string>): string {
  const blocks = [...flow]
    .filter(([guid]) => guids.has(guid))
    .map(([guid, content]) => ({ guid, ...content }))
  return JSON.stringify({ format: FORMAT, blocks }, null, 1)
}

export interface Pasted {
  readonly flow: Flow
  /** The new blocks. */
  readonly guids: readonly string[]
}

/**
 * Adds the blocks of a text under new guids, and new names where theirs are taken. Wires and expressions among them follow;
 * wires from blocks that this flow does not have are left out. Undefined when the text holds no blocks. `place` says where the top left corner goes; without it beside the
 * original.
 */
export function paste(
  flow: Flow,
  text: string,
  newGuid: () => string,
  place?: { readonly x: number; readonly y: number },
): Pasted | undefined {
  const blocks = readBlocks(text)
  if (blocks === undefined || blocks.length === 0) return undefined
  const guids = new Map(blocks.map(({ guid }) => [guid, newGuid()]))
  const left = Math.min(...blocks.map(({ content }) => content.position.x))
  const top = Math.min(...blocks.map(({ content }) => content.position.y))
  const [dx, dy] = place ? [place.x - left, place.y - top] : [40, 40]
  const taken = new Set(namesInFlow(flow).values())
  let next = flow
  for (const { guid, content } of blocks) {
    const { x, y } = content.position
    const { name, ...unnamed } = content
    const isFree = name !== undefined && !taken.has(name)
    next = withBlock(next, guids.get(guid) ?? newGuid(), {
      ...unnamed,
      ...(isFree && { name }),
      position: { x: x + dx, y: y + dy },
      in_pins: content.in_pins.flatMap((pin) => rewired(pin, guids, flow)),
    })
    if (isFree) taken.add(name)
  }
  const names = namesInFlow(next)
  for (const guid of guids.values()) {
    const content = next.get(guid)
    if (content)
      next = withBlock(next, guid, {
        ...content,
        in_pins: content.in_pins.map((pin) => withNames(pin, names)),
      })
  }
  return { flow: next, guids: [...guids.values()] }
}

function rewired(pin: SavedInPin, guids: ReadonlyMap<string, string>, flow: Flow): SavedInPin[] {
  if (pin.refs) return [{ ...pin, refs: watched(pin.refs, guids) }]
  if (!pin.from) return [pin]
  const from = pin.from.flatMap((end) => {
    const block = guids.get(end.block) ?? (flow.has(end.block) ? end.block : undefined)
    return block === undefined ? [] : [{ ...end, block }]
  })
  return from.length === 0 ? [] : [{ ...pin, from }]
}

/** References to blocks that were copied along lead to the copies. */
function watched(refs: Refs, guids: ReadonlyMap<string, string>): Refs {
  return Object.fromEntries(Object.entries(refs).map(([name, guid]) => [name, guids.get(guid) ?? guid]))
}

function readBlocks(text: string): { guid: string; content: BlockContent }[] | undefined {
  const json = parsed(text)
  if (!isJsonObject(json) || json.format !== FORMAT || !Array.isArray(json.blocks)) return undefined
  const blocks: readonly JsonValue[] = json.blocks
  return blocks.flatMap((block) => {
    if (!isJsonObject(block) || typeof block.guid !== 'string' || typeof block.type !== 'string') return []
    return [{ guid: block.guid, content: contentIn(block, block.type) }]
  })
}

/** What a text claims to be a block, made to have the shape of one. Whether it fits, the server says. */
function contentIn(block: { readonly [key: string]: JsonValue }, type: string): BlockContent {
  const { name, title, description, position, in_pins, custom_out_pins, fields, scopes } = block
  const point = isJsonObject(position) ? position : {}
  return {
    type,
    ...(typeof name === 'string' && isBlockName(name) && { name }),
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    position: { x: numberIn(point.x), y: numberIn(point.y) },
    in_pins: listIn(in_pins).flatMap(pinIn),
    custom_out_pins: listIn(custom_out_pins).flatMap((pin) => {
      const found = isJsonObject(pin) ? pinTypes.find((one) => one === pin.type) : undefined
      return isJsonObject(pin) && typeof pin.id === 'string' && found ? [{ id: pin.id, type: found }] : []
    }),
    fields: isJsonObject(fields) ? fields : {},
    scopes: listIn(scopes).filter((scope): scope is string => typeof scope === 'string'),
  }
}

function pinIn(pin: JsonValue): SavedInPin[] {
  if (!isJsonObject(pin) || typeof pin.id !== 'string') return []
  const { id, from, value, expression, refs } = pin
  if (typeof expression === 'string' && expression !== '') {
    const named = isJsonObject(refs) ? Object.entries(refs) : []
    const texts = named.filter((one): one is [string, string] => typeof one[1] === 'string')
    return [{ id, expression, ...(texts.length > 0 && { refs: Object.fromEntries(texts) }) }]
  }
  if (!Array.isArray(from)) return value === undefined ? [] : [{ id, value }]
  const ends = listIn(from).flatMap((end) =>
    isJsonObject(end) && typeof end.block === 'string' && typeof end.pin === 'string'
      ? [{ block: end.block, pin: end.pin }]
      : [],
  )
  return [{ id, from: ends }]
}

function listIn(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function numberIn(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
