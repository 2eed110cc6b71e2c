import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import { canConvert } from '../../../shared/pin-type.ts'
import { extractTexts } from '../../texts/canvas.ts'
import { namesInFlow } from '../expressions/block-refs.ts'
import { isScopeName } from '../expressions/parsed-pin.ts'
import { linksOf } from '../expressions/references.ts'
import { ownFunction } from '../gestures/function-blocks.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow, PinPlace } from '../model/flow.ts'
import { carriedType, pinsOf } from '../model/pins/pins.ts'
import { NODE_WIDTH, onGrid, sizeOf } from '../model/places/node-geometry.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { changedReads, innerPins } from './inner-pins.ts'
import { ExtractRefused, freeName, parameters, refuse } from './parameters.ts'
import { isSignal, type SelectedSteps, selectedSteps } from './selected-steps.ts'

export interface Extracted {
  readonly flow: Flow
  /** Guids of the block that calls the function, and of the function. */
  readonly call: string
  readonly trigger: string
  readonly takes: readonly string[]
  readonly returns: readonly string[]
  /** How many blocks are in the function; values that others need too stay outside. */
  readonly blocks: number
}

/** The flow in which the blocks are a custom function and a call stands in their place, or why that cannot be. */
export function extractFunction(
  flow: Flow,
  catalogue: Catalogue,
  selection: ReadonlySet<string>,
  name: string,
  newGuid: () => string,
): Extracted | { readonly refused: string } {
  try {
    return extracted(flow, catalogue, selectedSteps(flow, catalogue, selection), name, newGuid)
  } catch (error) {
    if (error instanceof ExtractRefused) return { refused: error.message }
    throw error
  }
}

function extracted(
  flow: Flow,
  catalogue: Catalogue,
  steps: SelectedSteps,
  name: string,
  newGuid: () => string,
): Extracted {
  const { guids, entry, leaving } = steps
  const [trigger, call] = [newGuid(), newGuid()]
  const taken = parameters()
  const within = { flow, catalogue, steps, parameters: taken, trigger }
  const inner = new Map(
    [...flow]
      .filter(([guid]) => guids.has(guid))
      .map(([guid, content]) => [guid, { ...content, in_pins: innerPins(within, guid, content) }] as const),
  )
  const results = resultsOf(flow, catalogue, steps)
  const blockNames = new Set(namesInFlow(flow).values())
  const callName = freeName(`call_${name}`, blockNames)
  const place = placesOf(flow, catalogue, steps)
  const rest = { flow, steps, results, call: { guid: call, name: callName } }
  const next = new Map<string, BlockContent>()
  for (const [guid, content] of flow) {
    const own = inner.get(guid)
    const in_pins = own && entered(steps, trigger, own.in_pins, guid)
    if (in_pins) next.set(guid, { ...own, position: place.moved(content), in_pins })
    else next.set(guid, outside(rest, guid, content))
  }
  next.set(call, {
    ...emptyContent,
    type: 'function_custom_execute',
    name: callName,
    position: flow.get(entry.block)?.position ?? { x: 0, y: 0 },
    in_pins: [
      { id: 'flow', from: steps.arriving.map(({ from }) => from) },
      { id: 'function', value: name },
      ...taken.pins(),
    ],
    fields: { parameters: taken.pins().map(({ id }) => id) },
  })
  next.set(trigger, {
    ...emptyContent,
    type: 'trigger_custom_function',
    position: place.trigger,
    custom_out_pins: [...taken.taken()],
    fields: { name },
  })
  if (leaving.length > 0)
    next.set(newGuid(), {
      ...emptyContent,
      type: 'function_return',
      position: place.end,
      in_pins: [{ id: 'flow', from: endsOf(leaving.map(({ from }) => from)) }, ...returned(flow, results)],
    })
  return {
    ...{ flow: next, call, trigger, blocks: inner.size },
    takes: taken.pins().map(({ id }) => id),
    returns: results.map((result) => result.name),
  }
}

/** The first step begins behind the function; ways back to it from within stay. */
function entered(
  { guids, entry }: SelectedSteps,
  trigger: string,
  pins: readonly SavedInPin[],
  guid: string,
): SavedInPin[] {
  if (guid !== entry.block) return [...pins]
  const within = (pin: SavedInPin) => (pin.from ?? []).filter(({ block }) => guids.has(block))
  return pins.map((pin) =>
    pin.id === entry.pin ? { ...pin, from: [{ block: trigger, pin: 'flow' }, ...within(pin)] } : pin,
  )
}

interface Outside {
  readonly flow: Flow
  readonly steps: SelectedSteps
  readonly results: readonly Result[]
  readonly call: Call
}

/** Blocks without a change keep their content, so that nothing is staged for them. */
function outside(
  { flow, steps: { guids, leaving }, results, call }: Outside,
  guid: string,
  content: BlockContent,
): BlockContent {
  const in_pins = content.in_pins.map((pin) => {
    const isBehind = leaving.some(({ to }) => to.block === guid && to.pin === pin.id)
    if (!isBehind) return outerPin(flow, results, call, pin)
    const others = (pin.from ?? []).filter(({ block }) => !guids.has(block))
    return { ...pin, from: [...others, { block: call.guid, pin: 'flow' }] }
  })
  return in_pins.some((pin, at) => pin !== content.in_pins[at]) ? { ...content, in_pins } : content
}

function endsOf(ends: readonly PinPlace[]): PinPlace[] {
  return [...new Map(ends.map(({ block, pin }) => [`${block}|${pin}`, { block, pin }])).values()]
}

const GAP = 70
/** Between the lowest block of the drawing and the function. */
const BELOW = 90

/** The function is a lane of its own below the drawing; its blocks stand to each other as before. */
function placesOf(flow: Flow, catalogue: Catalogue, { guids, entry }: SelectedSteps) {
  const bottoms = [...flow].map(([guid, { position }]) => position.y + sizeOf(flow, catalogue, guid).height)
  const mine = [...flow].flatMap(([guid, { position }]) => (guids.has(guid) ? [position] : []))
  const down = Math.max(...bottoms) + BELOW - Math.min(...mine.map(({ y }) => y))
  const first = flow.get(entry.block)?.position ?? { x: 0, y: 0 }
  const [left, right] = [Math.min(...mine.map(({ x }) => x)), Math.max(...mine.map(({ x }) => x))]
  return {
    moved: ({ position: { x, y } }: BlockContent) => onGrid({ x, y: y + down }),
    trigger: onGrid({ x: left - NODE_WIDTH - GAP, y: first.y + down }),
    end: onGrid({ x: right + NODE_WIDTH + GAP, y: first.y + down }),
  }
}

/** A name for the function that no other of this blueprint has. */
export function nameForFunction(flow: Flow, requested: string): string {
  const used = new Set([...flow.keys()].flatMap((guid) => ownFunction(flow, guid) ?? []))
  return freeName(
    requested
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/_+$/, '')
      .slice(0, 30) || 'steps',
    used,
  )
}

// What blocks outside read of the blocks that became a function: they read it of the call.

/** A value that the function returns; `name`: in the object that it returns, if it returns several. */
interface Result {
  readonly place: PinPlace
  readonly name: string
}

/** The values that blocks outside read, each once. */
function resultsOf(flow: Flow, catalogue: Catalogue, { guids, leaving }: SelectedSteps): readonly Result[] {
  const used = new Set<string>()
  const found = new Map<string, Result>()
  for (const wire of linksOf(flow)) {
    const { from, to } = wire
    if (!guids.has(from.block) || guids.has(to.block) || isSignal(flow, catalogue, wire)) continue
    const source = flow.get(from.block)
    const out = source && pinsOf(source, catalogue).out.get(from.pin)
    const title = wordsOf(flow, catalogue, from.block).title
    if (!out) refuse(extractTexts.readsMissingPin(title, from.pin, wordsOf(flow, catalogue, to.block).title))
    if (out.frame === true || !canConvert(carriedType(out, 'any'), 'any'))
      refuse(extractTexts.cannotReturn(out.type, title, wordsOf(flow, catalogue, to.block).title))
    if (leaving.length === 0) refuse(extractTexts.readsAside(wordsOf(flow, catalogue, to.block).title, title))
    const key = `${from.block}|${from.pin}`
    if (found.has(key)) continue
    const name = freeName(from.pin, used)
    used.add(name)
    found.set(key, { place: from, name })
  }
  return [...found.values()]
}

/** The pin `value` of the block that returns them. */
function returned(flow: Flow, results: readonly Result[]): SavedInPin[] {
  const [only, ...more] = results
  if (!only) return []
  if (more.length === 0) return [{ id: 'value', from: [only.place] }]
  const names = namesInFlow(flow)
  const entries = results.map(
    ({ place: { block, pin }, name }) => `${name}: ${blockRead(names.get(block) ?? '')}.${pin}`,
  )
  const refs = Object.fromEntries(results.map(({ place: { block } }) => [names.get(block) ?? '', block]))
  return [{ id: 'value', expression: `{ ${entries.join(', ')} }`, refs }]
}

interface Call {
  readonly guid: string
  readonly name: string
}

/** A pin of a block outside, with the results of the call in place of the blocks'. */
function outerPin(flow: Flow, results: readonly Result[], call: Call, pin: SavedInPin): SavedInPin {
  const one = results.length === 1
  const resultAt = (block: string | undefined, out: string | undefined) =>
    results.find(({ place }) => place.block === block && place.pin === out)
  const readOf = ({ name }: Result) => `${blockRead(call.name)}.value${one ? '' : `.${name}`}`
  if (pin.expression !== undefined) {
    const refs = pin.refs ?? {}
    const byName = new Map([...namesInFlow(flow)].map(([guid, name]) => [name, guid]))
    const text = changedReads(pin.expression, ({ name: { name, inBlocks }, field }) => {
      if (!inBlocks && isScopeName(name)) return undefined
      const block = (Object.hasOwn(refs, name) ? refs[name] : undefined) ?? byName.get(name)
      const result = resultAt(block, field)
      return result && readOf(result)
    })
    if (text === pin.expression) return pin
    const gone = new Set(results.map(({ place }) => place.block))
    const remaining = Object.entries(refs).filter(([, guid]) => !gone.has(guid))
    return { ...pin, expression: text, refs: { ...Object.fromEntries(remaining), [call.name]: call.guid } }
  }
  const [result] = (pin.from ?? []).flatMap(({ block, pin: out }) => resultAt(block, out) ?? [])
  if (!pin.from || !result) return pin
  if (one) {
    const from = pin.from.map((end) =>
      resultAt(end.block, end.pin) ? { block: call.guid, pin: 'value' } : end,
    )
    return { ...pin, from }
  }
  if (pin.from.length > 1) refuse(extractTexts.severalValues(pin.id))
  return { id: pin.id, expression: readOf(result), refs: { [call.name]: call.guid } }
}

function blockRead(name: string): string {
  return isScopeName(name) ? `blocks.${name}` : name
}
