import type { FunctionDeclaration } from '../function-declaration.ts'
import { anyType, conditionType, textType } from '../value-type.ts'

/** Functions that mean something in a `where` only. They are translated and have no body. */
export const whereFunctions: readonly FunctionDeclaration[] = [
  {
    name: 'maybe',
    parameters: [{ name: 'value', type: anyType, takesNothing: true }],
    gives: anyType,
    help: 'Leaves the comparison out when the value is empty: nothing, a text without a visible character, an empty list or object. Only in comparisons that `&&` joins with everything else.',
    example: 'doc.status == maybe(params.status)',
  },
  {
    name: 'search',
    parameters: [
      { name: 'field', type: anyType, takesNothing: true },
      { name: 'text', type: textType, takesNothing: true },
    ],
    gives: conditionType,
    help: 'Whether the field, or the whole document (`doc`), has the words of the text, best matches first; words as in the block "Free text". An empty text finds no document.',
    example: 'search(doc.title, params.q)',
  },
]
