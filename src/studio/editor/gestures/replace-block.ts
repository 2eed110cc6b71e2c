import type { BlockContent } from '../../../shared/blueprint.ts'
import type { Catalogue } from '../model/block-description.ts'
import { connect, disconnect, newContent, setLiteral } from '../model/changes/flow-changes.ts'
import { changeBlock, type Flow, type Wire, wiresInto, wiresOf } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { wireProblem } from '../model/pins/wire-check.ts'

/** Another block in the place of one: its name, title and comment stay, and what fits of its values and wires. */
export function replaceBlock(flow: Flow, catalogue: Catalogue, guid: string, type: string): Flow {
  const old = flow.get(guid)
  if (!old || old.type === type) return flow
  const { name, title, description, position, fields } = old
  const fresh = newContent(type, catalogue, position)
  const content: BlockContent = {
    ...fresh,
    ...(name !== undefined && { name }),
    ...{ title, description },
    fields: remainingFields(fields, catalogue, type),
    scopes: fresh.scopes.length > 0 && old.scopes.length > 0 ? old.scopes : fresh.scopes,
  }
  const leaving = wiresOf(flow).filter(({ from }) => from.block === guid)
  let next = leaving.reduce(disconnect, changeBlock(flow, guid, content))
  for (const pin of old.in_pins) {
    const kind = pinsOf(content, catalogue).in.get(pin.id)
    if (!kind || pin.from) continue
    if (pin.value !== undefined) next = setLiteral(next, guid, pin.id, pin.value)
    else next = changeBlock(next, guid, { in_pins: [...(next.get(guid)?.in_pins ?? []), pin] })
  }
  for (const wire of [...wiresInto(guid, old), ...leaving]) next = rewired(next, catalogue, guid, old, wire)
  return next
}

function remainingFields(
  fields: BlockContent['fields'],
  catalogue: Catalogue,
  type: string,
): BlockContent['fields'] {
  const settings = catalogue.get(type)?.settings ?? {}
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in settings))
}

/** The wire at the pin of the same name, else at the only one that carries the same. */
function rewired(flow: Flow, catalogue: Catalogue, guid: string, old: BlockContent, wire: Wire): Flow {
  const isInto = wire.to.block === guid
  const content = flow.get(guid)
  if (!content) return flow
  const [pins, before] = [pinsOf(content, catalogue), pinsOf(old, catalogue)]
  const same = isInto
    ? [...pins.in].filter(([, { type }]) => type === before.in.get(wire.to.pin)?.type)
    : [...pins.out].filter(([, out]) => out.type === before.out.get(wire.from.pin)?.type)
  const pin = isInto ? wire.to.pin : wire.from.pin
  const found = (isInto ? pins.in : pins.out).has(pin) ? pin : same.length === 1 ? same[0]?.[0] : undefined
  if (found === undefined) return flow
  const next = isInto
    ? { from: wire.from, to: { block: guid, pin: found } }
    : { from: { block: guid, pin: found }, to: wire.to }
  return wireProblem(flow, catalogue, next) === undefined ? connect(flow, catalogue, next) : flow
}
