/** Changes of a flow, each a pure function. What a change means for its neighbours (wires) is settled here. */
import type { BlockContent, SavedInPin } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import type { JsonObject, JsonValue } from '../../../../shared/json.ts'
import { refsIn } from '../../expressions/block-refs.ts'
import type { Catalogue } from '../block-description.ts'
import { changeBlock, type Flow, inPinOf, type Wire, withBlock } from '../flow.ts'
import { pinsOf, withoutLostPins } from '../pins/pins.ts'
import { isEntrance } from '../words/open-to.ts'

interface Point {
  readonly x: number
  readonly y: number
}

/** A new block as it is when it is put down. Endpoints and pages are for signed-in users until the builder chooses otherwise. */
export function newContent(type: string, catalogue: Catalogue, { x, y }: Point): BlockContent {
  const scopes = isEntrance({ type }, catalogue) ? ['*loggedin'] : []
  return { ...emptyContent, type, position: { x, y }, scopes }
}

/** Without the blocks, and without the wires that came from them. */
export function removeBlocks(flow: Flow, guids: ReadonlySet<string>): Flow {
  const next = new Map<string, BlockContent>()
  for (const [guid, content] of flow) {
    if (guids.has(guid)) continue
    const touched = content.in_pins.some((pin) => pin.from?.some((end) => guids.has(end.block)))
    next.set(guid, touched ? { ...content, in_pins: withoutSources(content.in_pins, guids) } : content)
  }
  return next
}

function withoutSources(pins: readonly SavedInPin[], guids: ReadonlySet<string>): SavedInPin[] {
  return pins.flatMap((pin) => {
    if (!pin.from) return [pin]
    const from = pin.from.filter((end) => !guids.has(end.block))
    return from.length === 0 ? [] : [{ ...pin, from }]
  })
}

/** Draws a wire. A pin that takes one wire gives up the one it had, or the value or expression it held. Check it first. */
export function connect(flow: Flow, catalogue: Catalogue, { from, to }: Wire): Flow {
  const content = flow.get(to.block)
  if (!content) return flow
  const pin = pinsOf(content, catalogue).in.get(to.pin)
  const takesMore = pin?.type === 'flow' || pin?.several === true
  const before = takesMore ? (inPinOf(content, to.pin)?.from ?? []) : []
  return withPin(flow, to.block, { id: to.pin, from: [...before, { block: from.block, pin: from.pin }] })
}

export function disconnect(flow: Flow, { from, to }: Wire): Flow {
  const pin = inPinOf(flow.get(to.block), to.pin)
  if (!pin?.from) return flow
  const rest = pin.from.filter((end) => end.block !== from.block || end.pin !== from.pin)
  if (rest.length === pin.from.length) return flow
  return rest.length === 0
    ? withoutPin(flow, to.block, to.pin)
    : withPin(flow, to.block, { ...pin, from: rest })
}

/** Gives the pin a value of its own, in place of wires or an expression; undefined takes it away. */
export function setLiteral(flow: Flow, guid: string, pin: string, value: JsonValue | undefined): Flow {
  return value === undefined ? withoutPin(flow, guid, pin) : withPin(flow, guid, { id: pin, value })
}

/** Gives the pin an expression, in place of wires or a value; an empty one takes it away. */
export function setExpression(flow: Flow, guid: string, pin: string, expression: string): Flow {
  if (expression.trim() === '') return withoutPin(flow, guid, pin)
  const refs = refsIn(expression, flow, inPinOf(flow.get(guid), pin)?.refs)
  const named = Object.keys(refs).length === 0 ? {} : { refs }
  return withPin(flow, guid, { id: pin, expression, ...named })
}

/** Changes one setting; undefined takes it away. Pins that go with it take their wires along. */
export function setField(
  flow: Flow,
  catalogue: Catalogue,
  guid: string,
  name: string,
  value: JsonValue | undefined,
): Flow {
  const content = flow.get(guid)
  if (!content) return flow
  const { [name]: _before, ...rest } = content.fields
  const fields: JsonObject = value === undefined ? rest : { ...content.fields, [name]: value }
  return withoutLostPins(changeBlock(flow, guid, { fields }), catalogue, guid)
}

export function setCustomOut(
  flow: Flow,
  catalogue: Catalogue,
  guid: string,
  custom_out_pins: BlockContent['custom_out_pins'],
): Flow {
  return withoutLostPins(changeBlock(flow, guid, { custom_out_pins }), catalogue, guid)
}

/** Blocks that stay where they are keep their content, so that nothing is staged for them. */
export function moveBlocks(flow: Flow, positions: ReadonlyMap<string, Point>): Flow {
  const next = new Map(flow)
  let moved = false
  for (const [guid, { x, y }] of positions) {
    const content = flow.get(guid)
    if (!content || (content.position.x === x && content.position.y === y)) continue
    next.set(guid, { ...content, position: { x, y } })
    moved = true
  }
  return moved ? next : flow
}

function withPin(flow: Flow, guid: string, pin: SavedInPin): Flow {
  const content = flow.get(guid)
  if (!content) return flow
  const at = content.in_pins.findIndex(({ id }) => id === pin.id)
  const in_pins = at < 0 ? [...content.in_pins, pin] : content.in_pins.with(at, pin)
  return withBlock(flow, guid, { ...content, in_pins })
}

function withoutPin(flow: Flow, guid: string, pin: string): Flow {
  const content = flow.get(guid)
  if (!content || !inPinOf(content, pin)) return flow
  return withBlock(flow, guid, { ...content, in_pins: content.in_pins.filter(({ id }) => id !== pin) })
}
