import type { FunctionDeclaration, MethodDeclaration } from '../function-declaration.ts'
import { any, condition, text, whole } from './input-names.ts'

const value = { name: 'value', type: any, takesNothing: true } as const

export const checkFunctions = [
  {
    name: 'isEmpty',
    parameters: [value],
    gives: condition,
    help: 'Whether the value is nothing, a text without a visible character, an empty list or an empty object.',
    example: "isEmpty('  ')",
    result: true,
  },
  {
    name: 'isNumber',
    work: 13,
    parameters: [value],
    gives: condition,
    help: 'Whether the value is a number, or a text that `number` reads.',
    example: "isNumber('12.5')",
    result: true,
  },
  {
    name: 'isDate',
    work: 12,
    parameters: [value],
    gives: condition,
    help: 'Whether the value is the text of a day or an instant that exists, such as 2026-01-31 or 2026-01-31T09:00Z.',
    example: "isDate('2026-02-30')",
    result: false,
  },
  {
    name: 'isEmail',
    work: 3,
    parameters: [value],
    gives: condition,
    help: 'Whether the value has the form of an e-mail address.',
    example: "isEmail('ann@example.com')",
    result: true,
  },
  {
    name: 'isUrl',
    work: 30,
    parameters: [value],
    gives: condition,
    help: 'Whether the value is a complete web address (http or https).',
    example: "isUrl('https://example.com/a')",
    result: true,
  },
  {
    name: 'isGuid',
    work: 3,
    parameters: [value],
    gives: condition,
    help: 'Whether the value has the form of a GUID, of any version.',
    example: "isGuid('0197c2de-1f00-7000-8000-000000000001')",
    result: true,
  },
] as const satisfies readonly FunctionDeclaration[]

const on = 'number'

export const numberMethods = [
  {
    on,
    name: 'toFixed',
    work: 30,
    parameters: [{ name: 'digits', type: whole, optional: true }],
    gives: text,
    help: 'As a text with so many digits after the point (0 by default), rounded as JavaScript does.',
    example: '(2.5).toFixed(2)',
    result: '2.50',
  },
  {
    on,
    name: 'toString',
    work: 5,
    parameters: [],
    gives: text,
    help: 'As a text.',
    example: '(2.5).toString()',
    result: '2.5',
  },
] as const satisfies readonly MethodDeclaration[]
