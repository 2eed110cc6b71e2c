import type { ValueBlock } from '../../../blocks/block.ts'
import type { InPin } from '../../../blocks/pin.ts'
import { calledFunctions } from '../../../expressions/language/declared/functions.ts'
import type { Node, PinExpression, Wire } from '../blueprint-graph.ts'
import { constantReader } from './constant-reader.ts'
import type { RunName } from './run-names.ts'

/**
 * A flow that reads no more of the run may have its replies kept: what a request's address decides, and values of the
 * environment, after a change of which no reply of before is sent again.
 */
const repeatable: ReadonlySet<RunName> = new Set(['params', 'query', 'env'])

/**
 * The value block that stands for an expression in the graph. In a run it is no block: `expression-getter.ts` compiles the
 * expression itself. It has the guid of the pin's block, which problems and failures name.
 */
export function expressionBlock(expression: PinExpression): Node {
  const pin: InPin = { type: 'any', help: '' }
  return {
    block: expression.owner.block,
    definition: definitionOf(expression),
    settings: {},
    in: new Map([...expression.wires.keys()].map((key) => [key, pin])),
    added: new Set(),
    out: new Map([['value', { type: expression.where ? 'query' : 'any', help: '' }]]),
    wires: new Map([...expression.wires].map(([key, wire]): [string, readonly Wire[]] => [key, [wire]])),
    literals: new Map(),
    sound: true,
    expression,
  }
}

function definitionOf(expression: PinExpression): ValueBlock {
  const { varies, calls } = calledFunctions(expression.parsed.root)
  const names = [...expression.runNames]
  const asksCaller = names.some((name) => !repeatable.has(name))
  const changes = varies.size > 0
  return {
    kind: 'value',
    identifier: 'expression',
    title: 'Expression',
    summary: '',
    in: {},
    out: {},
    settings: {},
    // A function may look at the cluster's time zone, which is not known while constants are folded.
    ...((names.length > 0 || calls) && { readsRun: true }),
    ...(!asksCaller && !changes && { readsAddress: true }),
    ...(!asksCaller && changes && !varies.has('random') && { readsClock: true }),
    value: constantReader(expression),
  }
}
