import type { FunctionDeclaration } from '../function-declaration.ts'
import { any, number } from './input-names.ts'

/** They stand only as values of fields in a pin `set`. */
export const fieldChangeFunctions = [
  {
    name: 'increment',
    work: 20,
    parameters: [{ name: 'amount', type: number }],
    gives: any,
    help: 'In set: adds the amount to the number that the field holds, also if others add to it at the same time; a missing field counts from 0.',
    example: 'increment(-1)',
    result: { change: 'increment' },
  },
  {
    name: 'append',
    work: 20,
    parameters: [{ name: 'value', type: any, takesNothing: true }],
    gives: any,
    help: 'In set: adds the value at the end of the list that the field holds; a missing field counts as an empty list.',
    example: "append('new')",
    result: { change: 'append' },
  },
  {
    name: 'unset',
    work: 20,
    parameters: [],
    gives: any,
    help: 'In set: takes the field away.',
    example: 'unset()',
    result: { change: 'remove' },
  },
] as const satisfies readonly FunctionDeclaration[]

export const fieldChangeNames: ReadonlySet<string> = new Set(fieldChangeFunctions.map(({ name }) => name))
