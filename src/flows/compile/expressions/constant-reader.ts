import { compileExpression } from '../../../expressions/language/compile/compile-expression.ts'
import type { FunctionContext } from '../../../expressions/language/function-declaration.ts'
import { elementsOf } from '../../../shared/expression-work.ts'
import type { PinExpression } from '../blueprint-graph.ts'
import { callables } from './callables.ts'
import { readKey } from './pin-expression.ts'
import { whereQuery } from './where-query.ts'

type Inputs = Readonly<Record<string, unknown>>

/**
 * Evaluates an expression outside a run: constants are folded, and the need for indexes and the form of replies are found
 * with samples. What only a run knows is nothing.
 */
export function constantReader({
  where,
  parsed,
}: Pick<PinExpression, 'where' | 'parsed'>): (inputs: Inputs) => { value: unknown } {
  const outsideRuns = boundedContext()
  let evaluate: ((inputs: Inputs) => unknown) | undefined
  return (inputs) => {
    const compile = where ? whereQuery<Inputs> : compileExpression<Inputs>
    evaluate ??= compile(parsed, {
      ...callables(),
      name: (name, inBlocks) => (given) => given[readKey(name, inBlocks)],
      field: (name, inBlocks, key) => (given) => given[readKey(name, inBlocks, key)],
      context: () => outsideRuns.context,
    })
    outsideRuns.begin()
    return { value: evaluate(inputs) }
  }
}

/** As much as a sample may cost: 40 ms. */
const MOST_ELEMENTS = 20_000

function boundedContext(): { readonly context: FunctionContext; begin(): void } {
  let left = 0
  return {
    begin() {
      left = MOST_ELEMENTS
    },
    context: {
      now: () => 0,
      random: (bytes) => new Uint8Array(bytes),
      timeZone: 'UTC',
      locale: 'en',
      spend(elements, work) {
        left -= elementsOf(elements, work)
        if (left < 0) throw new RangeError('A sample has too many elements.')
      },
    },
  }
}
