import { errorAt } from '../../../expressions/language/blame.ts'
import { compileExpression } from '../../../expressions/language/compile/compile-expression.ts'
import type { ParsedExpression } from '../../../expressions/language/expression.ts'
import type { ExpressionHost } from '../../../expressions/language/function-declaration.ts'
import { compileWhere } from '../../../expressions/language/where/compile-where.ts'
import { readWhere } from '../../../expressions/language/where/read-where.ts'
import type { Query } from '../../../shared/query.ts'
import { textProblem } from '../../../storage/search/check-search.ts'

/** Searches and tables may leave comparisons out; the deploy refuses that elsewhere. */
const whereOptions = { maybe: true }

/** A `where` as a function of the frame that gives the query. */
export function whereQuery<F>(parsed: ParsedExpression, host: ExpressionHost<F>): (frame: F) => Query {
  const { condition } = readWhere(parsed, whereOptions)
  return compileWhere<F>(condition, {
    value: (part) => compileExpression({ ...parsed, root: part }, host),
    condition(part, negated) {
      const read = compileExpression({ ...parsed, root: part }, host)
      return (frame) => Boolean(read(frame)) !== negated
    },
    error(problem, part) {
      const failed = errorAt(`The value that a field is compared with ${problem}.`, part, parsed)
      failed.ofOperand = problem
      return failed
    },
    textProblem: (text) => textProblem([text]),
  })
}

/**
 * The query with a sample for each value that is not written out; with nothing as the sample, what is optional is left out.
 * Conditions of the run do not hide what stands beside them.
 */
export function sampledWhere(parsed: ParsedExpression, sample: unknown): Query {
  const { condition } = readWhere(parsed, whereOptions)
  const sampled = compileWhere<undefined>(condition, {
    value: (_part, isList) => () => (isList && sample !== undefined ? [sample] : sample),
    condition: (_part, _negated, inside) => () => inside === 'and' || sample === undefined,
    error: (problem) => new TypeError(problem),
    textProblem: () => undefined,
  })
  return sampled(undefined)
}
