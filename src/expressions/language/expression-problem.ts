/** What is wrong with an expression, and where in its text: zero-based columns, `end` behind the last character. */
export interface ExpressionProblem {
  readonly message: string
  readonly start: number
  readonly end: number
}
