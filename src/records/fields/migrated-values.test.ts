/** What each write of a document does while a field has two names. */
import { expect, test } from 'vitest'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { fieldWriter } from './field-writer.ts'
import { secondNames } from './migrated-values.ts'
import { writePlan } from './write-plan.ts'

const former: FieldRule = {
  ...{
    name: 'title',
    storage: 'notes',
    type: 'string',
    required: false,
    defaultValue: undefined,
    limits: {},
  },
  leftOverOf: 'headline',
}
const during = { ...former, isBeside: true as const }

const world = { clock: () => 0, random: () => undefined }

/** The document as it is stored when it is written. */
function written(rule: FieldRule, document: JsonObject): JsonObject {
  const writer = fieldWriter(world, {})
  const mutations = secondNames([rule]).flatMap((change) => change(document, writer))
  return applyMutations(document, mutations)
}

test.each<[what: string, rule: FieldRule, document: JsonObject, stored: JsonObject]>([
  ['the former name goes', former, { title: 'a', headline: 'a' }, { headline: 'a' }],
  ['a value that only it has is taken over', former, { title: 'a' }, { headline: 'a' }],
  ['a new document has both while old flows run', during, { headline: 'b' }, { headline: 'b', title: 'b' }],
  ['a changed one too', during, { title: 'a', headline: 'b' }, { headline: 'b', title: 'b' }],
  ['one without a value has none', during, { other: 1 }, { other: 1 }],
  ['later the former name goes', former, { title: 'a', headline: 'b' }, { headline: 'b' }],
])('%s', (_what, rule, document, stored) => {
  expect(written(rule, document)).toEqual(stored)
})

const amount: FieldRule = {
  ...{
    name: 'amount',
    storage: 'goods',
    type: 'integer',
    required: true,
    defaultValue: undefined,
    limits: {},
  },
  settling: { from: 'price', convert: '=number(value)', fill: 0 },
}

test.each<[what: string, document: JsonObject, added: JsonObject]>([
  ['a flow that knows only the former field', { price: '12' }, { price: '12', amount: 12 }],
  ['one that gives none', {}, { amount: 0 }],
  ['one that knows the field', { price: '12', amount: 1 }, { price: '12', amount: 1 }],
  ['a value that cannot be converted', { price: 'dear' }, { price: 'dear' }],
])('a new document of %s', (_what, document, added) => {
  const writer = fieldWriter(world, {})
  expect(applyMutations(document, writePlan([amount]).defaults(document, writer))).toEqual(added)
})
