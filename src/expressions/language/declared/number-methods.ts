import type { MethodDeclaration } from '../function-declaration.ts'
import { text, whole } from './input-names.ts'

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
