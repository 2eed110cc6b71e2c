/** In which order a described document has its fields. */
import { expect, test } from 'vitest'
import type { FieldRule } from '../../shared/field-rule.ts'
import { documentFields } from './describe-replies.ts'

const rule = (name: string, type: FieldRule['type'] = 'string'): FieldRule => ({
  ...{ name, type, storage: 'goods', required: false, defaultValue: undefined, limits: {} },
})

test('a document has its fields in their order, whatever their names, and an object has what is in it', () => {
  const fields = documentFields([
    rule('description'),
    rule('owner.name'),
    rule('cost', 'number'),
    rule('owner', 'object'),
    rule('ok', 'boolean'),
  ])
  expect(Object.keys(fields)).toEqual(['description', 'cost', 'owner', 'ok'])
  expect(fields.owner).toEqual({
    type: ['object', 'null'],
    properties: { name: { type: ['string', 'null'] } },
  })
})
