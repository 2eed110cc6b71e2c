import type { BlockDescription, InPin, OutPin } from '../../../../shared/api/blocks/blocks.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { isJsonObject } from '../../../../shared/json.ts'
import { operationInPins, operationOutPins } from '../../../../shared/operations/operation.ts'
import { canConvert, isNamedType, type PinType } from '../../../../shared/pin-type.ts'
import { modelTexts } from '../../../texts/editor.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, inPinOf, isFilled, wiresInto } from '../flow.ts'

export interface BlockPins {
  /** In the order in which they are drawn: flow first, then the block's own, then those that settings add. */
  readonly in: ReadonlyMap<string, InPin>
  readonly out: ReadonlyMap<string, OutPin>
}

const none: BlockPins = { in: new Map(), out: new Map() }

const known = new WeakMap<BlockContent, { description: BlockDescription; pins: BlockPins }>()

/** The pins that a block has with its present settings; none for a block that this version does not know. */
export function pinsOf(content: BlockContent, catalogue: Catalogue): BlockPins {
  const description = catalogue.get(content.type)
  if (!description) return none
  const before = known.get(content)
  if (before?.description === description) return before.pins
  const pins = { in: inPins(content, description), out: outPins(content, description) }
  known.set(content, { description, pins })
  return pins
}

function inPins(content: BlockContent, description: BlockDescription): Map<string, InPin> {
  const pins = new Map(Object.entries(description.in))
  for (const [setting, kind] of Object.entries(description.adds.in)) {
    for (const name of namesIn(content, setting)) {
      if (!pins.has(name)) pins.set(name, { ...kind, help: kind.help.replace('…', name) })
    }
  }
  for (const setting of operationSettings(description))
    for (const [id, pin] of Object.entries(operationInPins(content.fields[setting])))
      if (!pins.has(id)) pins.set(id, pin)
  return pins
}

/** Settings whose value says itself which pins it adds. */
function operationSettings({ settings }: BlockDescription): readonly string[] {
  return Object.entries(settings).flatMap(([name, { kind }]) => (kind === 'operation' ? [name] : []))
}

function outPins(content: BlockContent, description: BlockDescription): Map<string, OutPin> {
  const pins = new Map(Object.entries(description.out))
  for (const [setting, kind] of Object.entries(description.adds.out)) {
    for (const name of namesIn(content, setting)) {
      if (!pins.has(name)) pins.set(name, { ...kind, help: kind.help.replace('…', name) })
    }
  }
  for (const setting of operationSettings(description))
    for (const [id, pin] of Object.entries(operationOutPins(content.fields[setting])))
      if (!pins.has(id)) pins.set(id, pin)
  if (!description.adds.custom_out) return pins
  for (const { id, type } of content.custom_out_pins)
    if (!pins.has(id)) pins.set(id, { type, help: modelTexts.theParameter(id) })
  return pins
}

function namesIn(content: BlockContent, setting: string): string[] {
  const value = content.fields[setting]
  return Array.isArray(value)
    ? value
        .map((one) => (isJsonObject(one) ? one.name : one))
        .filter((name): name is string => typeof name === 'string' && name !== '')
    : []
}

/** The pin can be written into a field: not what only blocks give, such as a flow. */
export function hasField({ type, perFrame }: InPin): boolean {
  const holdsName = type === 'storage' || type === 'sort' || isNamedType(type)
  return holdsName || (canConvert('any', type) && !perFrame)
}

/** The first setting or pin, in the order of the panel, that the block needs and that is still empty. */
export function neededField(content: BlockContent, catalogue: Catalogue): string | undefined {
  const settings = Object.entries(catalogue.get(content.type)?.settings ?? {})
  const setting = settings.find(([name, { required }]) => required && content.fields[name] === undefined)
  if (setting) return setting[0]
  const pins = [...pinsOf(content, catalogue).in]
  const needed = pins.find(
    ([id, pin]) =>
      pin.required && pin.default === undefined && hasField(pin) && !isFilled(inPinOf(content, id)),
  )
  if (needed) return needed[0]
  const oneOf = exactlyOneOf[content.type] ?? []
  return oneOf.some((id) => isFilled(inPinOf(content, id))) ? undefined : oneOf[0]
}

/** The field that the keyboard begins with in a block that was added: the first that is needed, or else what it is mostly added for. */
export function firstField(content: BlockContent, catalogue: Catalogue): string | undefined {
  return neededField(content, catalogue) ?? mainField[content.type]
}

/** Of types that need nothing. */
const mainField: Readonly<Record<string, string>> = { httpconnection_set_json: 'value' }

/** Pins of which exactly one is set, the usual one first. */
const exactlyOneOf: Readonly<Record<string, readonly string[]>> = {
  schedule_repeating_event: ['cron', 'every', 'next_run'],
}

/** What a wire from the out-pin carries into a pin of a type: `error` pins are signal and value at once. */
export function carriedType(out: OutPin, into: PinType): PinType {
  return out.type === 'flow' && out.carries && into !== 'flow' ? out.carries : out.type
}

/**
 * The flow without wires and values on pins that a block no longer has, after its settings changed. A block that is not
 * known is left alone.
 */
export function withoutLostPins(flow: Flow, catalogue: Catalogue, guid: string): Flow {
  const changed = flow.get(guid)
  if (!changed || !catalogue.has(changed.type)) return flow
  const pins = pinsOf(changed, catalogue)
  const next = new Map(flow)
  const remaining = changed.in_pins.filter(({ id }) => pins.in.has(id))
  if (remaining.length < changed.in_pins.length) next.set(guid, { ...changed, in_pins: remaining })
  for (const [other, content] of next) {
    const lost = wiresInto(other, content).some(({ from }) => from.block === guid && !pins.out.has(from.pin))
    if (!lost) continue
    const in_pins = content.in_pins.flatMap((pin) => {
      if (!pin.from) return [pin]
      const from = pin.from.filter((end) => end.block !== guid || pins.out.has(end.pin))
      return from.length === pin.from.length ? [pin] : from.length === 0 ? [] : [{ ...pin, from }]
    })
    next.set(other, { ...content, in_pins })
  }
  return next
}
