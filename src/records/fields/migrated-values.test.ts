/** What each write of a document does while a field has two names. */
import { expect, test } from 'vitest'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { fieldWriter } from './field-writer.ts'
import { secondNames } from './migrated-values.ts'
import { writePlan } from './write-plan.ts'

const SWITCHED = 1_000
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
const during = { ...former, copiedUntil: SWITCHED + 5 }

/** The document as it is stored when it is written at this time. */
function written(rule: FieldRule, document: JsonObject, at: number): JsonObject {
  const writer = fieldWriter({ clock: () => at, random: () => undefined }, {})
  const mutations = secondNames([rule]).flatMap((change) => change(document, writer))
  return applyMutations(document, mutations)
}

test.each<[what: string, rule: FieldRule, at: number, document: JsonObject, stored: JsonObject]>([
  ['the former name goes', former, SWITCHED, { title: 'a', headline: 'a' }, { headline: 'a' }],
  ['a value that only it has is taken over', former, SWITCHED, { title: 'a' }, { headline: 'a' }],
  [
    'a new document has both while old flows run',
    during,
    SWITCHED,
    { headline: 'b' },
    { headline: 'b', title: 'b' },
  ],
  ['a changed one too', during, SWITCHED, { title: 'a', headline: 'b' }, { headline: 'b', title: 'b' }],
  ['one without a value has none', during, SWITCHED, { other: 1 }, { other: 1 }],
  ['later the former name goes', during, SWITCHED + 5, { title: 'a', headline: 'b' }, { headline: 'b' }],
])('%s', (_what, rule, at, document, stored) => {
  expect(written(rule, document, at)).toEqual(stored)
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
  settling: { until: SWITCHED + 5, from: 'price', convert: '=number(value)', fill: 0 },
}

test.each<[what: string, at: number, document: JsonObject, added: JsonObject]>([
  ['a flow that knows only the former field', SWITCHED, { price: '12' }, { price: '12', amount: 12 }],
  ['one that gives none', SWITCHED, {}, { amount: 0 }],
  ['one that knows the field', SWITCHED, { price: '12', amount: 1 }, { price: '12', amount: 1 }],
  ['a value that cannot be converted', SWITCHED, { price: 'dear' }, { price: 'dear' }],
  ['later', SWITCHED + 5, { price: '12' }, { price: '12' }],
])('a new document of %s', (_what, at, document, added) => {
  const writer = fieldWriter({ clock: () => at, random: () => undefined }, {})
  expect(applyMutations(document, writePlan([amount]).defaults(document, writer))).toEqual(added)
})
