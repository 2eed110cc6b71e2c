/** Pins of the blocks of a function: what they took from outside, they take from its parameters. */
import {
  type Argument,
  type Entry,
  type NameRead,
  type Place,
  partsOf,
  type Spread,
} from '../../../expressions/language/expression.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import { extractTexts } from '../../texts/canvas.ts'
import { namesInFlow, refsIn } from '../expressions/block-refs.ts'
import { isScopeName } from '../expressions/parsed-pin.ts'
import { storageOf } from '../gestures/inline-storage.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow, PinPlace } from '../model/flow.ts'
import { carriedType, pinsOf } from '../model/pins/pins.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { type Parameters, refuse } from './parameters.ts'
import type { SelectedSteps } from './selected-steps.ts'

interface Within {
  readonly flow: Flow
  readonly catalogue: Catalogue
  readonly steps: SelectedSteps
  readonly parameters: Parameters
  /** Guid of the function. */
  readonly trigger: string
}

export function innerPins(within: Within, guid: string, content: BlockContent): SavedInPin[] {
  const pins = pinsOf(content, within.catalogue)
  return content.in_pins.flatMap((pin): SavedInPin[] => {
    const into = pins.in.get(pin.id)
    if (pin.expression !== undefined) {
      const isOwnItem = into?.perFrame === true || within.steps.looped.has(guid)
      return [innerExpression(within, guid, pin, isOwnItem)]
    }
    if (!pin.from || into?.type === 'flow') return [pin]
    const from = pin.from.flatMap((end) => innerEnd(within, pin.id, end, guid))
    const named = pin.from.map((end) => outerStorage(within, end)).find((name) => name !== undefined)
    if (named !== undefined) return [{ id: pin.id, value: named }]
    return from.length === 0 ? [] : [{ ...pin, from }]
  })
}

/** Name of the storage that a storage block outside gives. */
function outerStorage({ flow, steps }: Within, { block }: PinPlace): string | undefined {
  return steps.guids.has(block) ? undefined : storageOf(flow, block)
}

function innerEnd(within: Within, pin: string, end: PinPlace, guid: string): PinPlace[] {
  const { flow, catalogue, steps, parameters, trigger } = within
  const source = flow.get(end.block)
  if (steps.guids.has(end.block) || !source) return [end]
  const out = pinsOf(source, catalogue).out.get(end.pin)
  const into = pinsOf(flow.get(guid) ?? source, catalogue).in.get(pin)
  const title = wordsOf(flow, catalogue, end.block).title
  if (!out || !into) return refuse(extractTexts.wireWithoutPin(title))
  if (out.frame === true) refuse(extractTexts.listOfWire(title))
  // Without a wire it is the request that started the flow, in a function as well.
  if (out.type === 'connection' && into.required !== true) return []
  if (outerStorage(within, end) !== undefined) return []
  return [
    {
      block: trigger,
      pin: parameters.ofPin(end, carriedType(out, into.type), {
        title,
        name: namesInFlow(flow).get(end.block) ?? '',
      }),
    },
  ]
}

/** The request and what belongs to it; `params` are in a function its own parameters. */
const ofRequest: ReadonlySet<string> = new Set(['query', 'body', 'headers', 'request'])

function innerExpression(within: Within, guid: string, pin: SavedInPin, isOwnItem: boolean): SavedInPin {
  const { flow, catalogue, steps, parameters } = within
  const byName = new Map([...namesInFlow(flow)].map(([block, name]) => [name, block]))
  const refs = pin.refs ?? {}
  const titleOf = (block: string) => wordsOf(flow, catalogue, block).title

  const changed = ({ name: { name, inBlocks }, field }: Read): string | undefined => {
    if (inBlocks || !isScopeName(name)) {
      const block = (Object.hasOwn(refs, name) ? refs[name] : undefined) ?? byName.get(name)
      if (block === undefined || steps.guids.has(block) || !flow.has(block)) return undefined
      const source = flow.get(block)
      const out = field === undefined || !source ? undefined : pinsOf(source, catalogue).out.get(field)
      if (field === undefined || !out) return refuse(extractTexts.noParameter(titleOf(guid), name))
      if (out.frame === true) refuse(extractTexts.listNotSelected(titleOf(block)))
      return `params.${parameters.ofPin({ block, pin: field }, carriedType(out, 'any'), { title: titleOf(block), name })}`
    }
    if (ofRequest.has(name)) {
      const parameter = parameters.ofExpression(name, name)
      return field === undefined ? `params.${parameter}` : `params.${parameter}[${JSON.stringify(field)}]`
    }
    if (name === 'params') {
      if (field === undefined) return refuse(extractTexts.readsAllParameters(titleOf(guid)))
      return `params.${parameters.ofExpression(readOf('params', field), field)}`
    }
    if ((name === 'item' || name === 'index') && !isOwnItem) {
      if (catalogue.get(flow.get(guid)?.type ?? '')?.kind === 'value')
        return refuse(extractTexts.readsOfList(titleOf(guid), name))
      const parameter = parameters.ofExpression(name, name)
      return field === undefined ? `params.${parameter}` : `params.${parameter}[${JSON.stringify(field)}]`
    }
    return undefined
  }

  const text = changedReads(pin.expression ?? '', changed)
  if (text === pin.expression) return pin
  const remaining = refsIn(text, flow, pin.refs)
  return { id: pin.id, expression: text, ...(Object.keys(remaining).length > 0 && { refs: remaining }) }
}

function readOf(name: string, field: string): string {
  return /^[A-Za-z_]\w*$/.test(field) ? `${name}.${field}` : `${name}[${JSON.stringify(field)}]`
}

/** A name that an expression reads, with the first field that it reads of it, if that is written out. */
interface Read {
  readonly name: NameRead
  readonly field: string | undefined
}

/**
 * The text in which reads are replaced; every other character stays. `changed` gives what stands in place of the name and the
 * field, or undefined for what stays. A text that is no expression comes back as it is.
 */
export function changedReads(text: string, changed: (read: Read) => string | undefined): string {
  const { expression } = parseExpression(text)
  if (!expression) return text
  const changes: { readonly at: Place; readonly text: string }[] = []
  const visit = (part: Argument | Entry | Spread) => {
    const of = part.kind === 'member' || part.kind === 'index' ? part.of : undefined
    const field = fieldOf(part)
    if (of?.kind === 'name' && field !== undefined) {
      const now = changed({ name: of, field })
      if (now !== undefined) changes.push({ at: part, text: now })
    } else if (part.kind === 'name') {
      const now = changed({ name: part, field: undefined })
      if (now !== undefined) changes.push({ at: part, text: now })
    } else if (part.kind === 'entry' && part.shorthand && part.value.kind === 'name') {
      const now = changed({ name: part.value, field: undefined })
      if (now !== undefined) changes.push({ at: part.value, text: `${part.key}: ${now}` })
    } else for (const one of partsOf(part)) visit(one)
  }
  visit(expression.root)
  let result = text
  for (const { at, text: now } of changes.toSorted((a, b) => b.at.start - a.at.start))
    result = result.slice(0, at.start) + now + result.slice(at.end)
  return result
}

function fieldOf(part: Argument | Entry | Spread): string | undefined {
  if (part.kind === 'member') return part.key
  if (part.kind !== 'index' || part.key.kind !== 'literal') return undefined
  return typeof part.key.value === 'string' ? part.key.value : undefined
}
