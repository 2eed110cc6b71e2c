import { expect, test } from 'vitest'
import { fieldTypes } from '../../../../shared/fields/field-type.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import { fieldKinds, findKinds, kindLabel, kindOf, storedKindLabel, typeOfKind } from './field-kinds.ts'

test('one list has every type, and money', () => {
  expect([...fieldKinds].sort()).toEqual([...fieldTypes, 'money'].sort())
  expect(new Set(fieldKinds.map(kindLabel)).size).toBe(fieldKinds.length)
  expect(fieldKinds.filter((kind) => !fieldsTexts.kindLabels[kind])).toEqual([])
})

test.each([
  ['ref', 'reference'],
  ['text', 'string'],
  ['num', 'number'],
  ['money', 'money'],
  ['curr', 'money'],
  ['sev', 'choices'],
  ['choice', 'choice'],
  ['enum', 'choice'],
  ['checkbox', 'boolean'],
  ['relation', 'reference'],
  ['datetime', 'instant'],
  ['date', 'day'],
  ['JSON', 'array'],
])('typing %j marks %s first', (typed, kind) => {
  expect(findKinds(typed)[0]).toBe(kind)
})

test('nothing fits zebra, and everything fits nothing', () => {
  expect(findKinds('zebra')).toEqual([])
  expect(findKinds(' ')).toEqual(fieldKinds)
})

test('money is a decimal with a currency, which the next kind loses', () => {
  expect(typeOfKind('money', '', 'EUR')).toEqual({ type: 'decimal', currency: 'EUR' })
  expect(typeOfKind('money', 'USD', 'EUR')).toEqual({ type: 'decimal', currency: 'USD' })
  expect(typeOfKind('decimal', 'USD', 'EUR')).toEqual({ type: 'decimal', currency: '' })
  expect(kindOf({ type: 'decimal', currency: 'EUR' })).toBe('money')
  expect(storedKindLabel({ type: 'decimal', validation_rules: { currency: 'EUR' } })).toBe('Money')
  expect(storedKindLabel({ type: 'decimal', validation_rules: {} })).toBe('Decimal')
  expect(storedKindLabel({ type: 'unknown', validation_rules: null })).toBe('unknown')
})
