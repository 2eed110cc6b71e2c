/** What a function needs from its caller: each value once, under a name of its own. */
import type { CustomOutPin, SavedInPin } from '../../../shared/blueprint.ts'
import { canConvert, type PinType } from '../../../shared/pin-type.ts'
import { extractTexts } from '../../texts/canvas.ts'
import type { PinPlace } from '../model/flow.ts'

/** As many as a custom function may have. */
const MOST = 50

export interface Parameters {
  /** Name of the parameter that carries what an out-pin gives. */
  ofPin(place: PinPlace, type: PinType, block: { readonly title: string; readonly name: string }): string
  /** Name of the parameter that carries what an expression gives, such as `body` or `params.guid`. */
  ofExpression(expression: string, requested: string): string
  /** The pins of the call, with what they hold. */
  pins(): readonly SavedInPin[]
  /** The out-pins of the function. */
  taken(): readonly CustomOutPin[]
}

export function parameters(): Parameters {
  const known = new Map<string, { readonly pin: SavedInPin; readonly type: PinType }>()
  /** Pins that the function or its call have besides. */
  const used = new Set(['flow', 'function'])

  function named(source: string, requested: string, pin: (id: string) => SavedInPin, type: PinType): string {
    const before = known.get(source)
    if (before) return before.pin.id
    const name = freeName(requested, used)
    used.add(name)
    known.set(source, { pin: pin(name), type })
    if (known.size > MOST) refuse(extractTexts.tooManyValues(MOST))
    return name
  }

  return {
    ofPin({ block, pin }, type, { title, name }) {
      if (!canConvert('any', type)) refuse(extractTexts.cannotPass(type, title))
      // `value` says nothing beside other values.
      const requested = pin === 'value' || pin === 'condition' ? name : pin
      return named(`${block}|${pin}`, requested, (id) => ({ id, from: [{ block, pin }] }), type)
    },
    ofExpression: (expression, requested) =>
      named(`=${expression}`, requested, (id) => ({ id, expression }), 'any'),
    pins: () => [...known.values()].map(({ pin }) => pin),
    taken: () => [...known.values()].map(({ pin: { id }, type }) => ({ id, type })),
  }
}

/** The wanted name as a name of a parameter, with a number where it is taken. */
export function freeName(requested: string, used: ReadonlySet<string>): string {
  const words = requested.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^[^A-Za-z]+/, '')
  const base = words.slice(0, 50) || 'value'
  let name = base
  for (let number = 2; used.has(name); number++) name = `${base}_${number}`
  return name
}

/** Why the selection cannot be a function, as one sentence for the builder. */
export class ExtractRefused extends Error {}

export function refuse(why: string): never {
  throw new ExtractRefused(why)
}
