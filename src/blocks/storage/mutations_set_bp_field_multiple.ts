import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { defineValue, PinError } from '../block.ts'
import type { InPin } from '../pin.ts'
import { setField } from './document-writes.ts'

/** Pins of the block itself: fields of these names get none, and are set through `object`. */
const ownPins = new Set(['mutations', 'object'])

export default defineValue({
  identifier: 'mutations_set_bp_field_multiple',
  title: 'Set fields',
  summary:
    'Sets fields of a document, each from its own pin or all from one object. For create and update blocks.',
  in: {
    mutations: { type: 'mutations', help: 'Mutations that come before these.' },
    object: {
      type: 'any',
      help: 'An object whose keys are the fields, such as the body of a request. Its _meta is ignored. If fields are chosen, only those are taken.',
    },
  },
  out: { mutations: { type: 'mutations', help: 'The input mutations, followed by these.' } },
  settings: {
    fields: {
      kind: 'names',
      help: 'Fields with their own pin; use dots for nested fields. If fields are chosen, object can set only those. Fields named mutations or object get no pin: set them through object.',
    },
  },
  moreIn({ fields }) {
    const pins = fields
      .filter((name) => !ownPins.has(name))
      .map((name): [string, InPin] => [name, fieldPin(name)])
    return Object.fromEntries(pins)
  },
  value(inputs, { settings, more }) {
    const mutations = [...(inputs.mutations ?? [])]
    if (inputs.object !== undefined)
      for (const [field, value] of chosenFields(inputs.object, settings.fields))
        mutations.push(setField(field, value, isJsonObject(inputs.object) ? inputs.object : undefined))
    // After the object: a pin is the more particular choice.
    for (const name of settings.fields) {
      const value = more[name]
      // A pin of the type any gives JSON; only which pins there are is not known by type.
      if (value !== undefined) mutations.push(setField(name, value as JsonValue))
    }
    return { mutations }
  },
})

function fieldPin(name: string): InPin {
  return { type: 'any', help: `Sets ${name}. Empty: ${name} does not change.` }
}

function chosenFields(object: JsonValue, chosen: readonly string[]): [string, JsonValue][] {
  if (!isJsonObject(object)) throw new PinError('object', 'must be an object')
  return Object.entries(object).flatMap(([key, value]): [string, JsonValue][] => {
    if (key === '_meta' || key.startsWith('_meta.')) return []
    if (chosen.length === 0 || chosen.some((name) => key === name || key.startsWith(`${name}.`)))
      return [[key, value]]
    return nestedFields(object, key, chosen)
  })
}

/** Of the object under a key only what is chosen: `customer.name` of `{ "customer": { "name": …, "credit": … } }`. */
function nestedFields(object: JsonObject, key: string, chosen: readonly string[]): [string, JsonValue][] {
  return chosen.flatMap((name): [string, JsonValue][] => {
    if (!name.startsWith(`${key}.`)) return []
    const value = valueAt(object, parseFieldPath(name))
    return value === undefined ? [] : [[name, value]]
  })
}
