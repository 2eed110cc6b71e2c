/** What blocks outside read of the blocks that became a function: they read it of the call. */

import type { SavedInPin } from '../../../shared/blueprint.ts'
import { canConvert } from '../../../shared/pin-type.ts'
import { extractTexts } from '../../texts/extract.ts'
import { namesInFlow } from '../expressions/block-refs.ts'
import { linksOf } from '../expressions/references.ts'
import { isScopeName } from '../expressions/scope-names.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow, PinPlace } from '../model/flow.ts'
import { carriedType, pinsOf } from '../model/pins/pins.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { changedReads } from './changed-reads.ts'
import { freeName } from './parameters.ts'
import { refuse } from './refused.ts'
import { isSignal, type SelectedSteps } from './selected-steps.ts'

/** A value that the function returns; `name`: in the object that it returns, if it returns several. */
interface Result {
  readonly place: PinPlace
  readonly name: string
}

/** The values that blocks outside read, each once. */
export function resultsOf(
  flow: Flow,
  catalogue: Catalogue,
  { guids, leaving }: SelectedSteps,
): readonly Result[] {
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
export function returned(flow: Flow, results: readonly Result[]): SavedInPin[] {
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
export function outerPin(flow: Flow, results: readonly Result[], call: Call, pin: SavedInPin): SavedInPin {
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
    const kept = Object.entries(refs).filter(([, guid]) => !gone.has(guid))
    return { ...pin, expression: text, refs: { ...Object.fromEntries(kept), [call.name]: call.guid } }
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
