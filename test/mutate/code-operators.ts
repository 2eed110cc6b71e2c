/** Small changes of code, as a person makes them by mistake: another branch, a swapped comparison, a line that is gone. */
import ts from 'typescript'
import type { Edit } from './mutant.ts'

/** All changes of one node, without those of the nodes in it. `counts`: which entries of an object or list are left out. */
export function changesOfNode(
  node: ts.Node,
  source: ts.SourceFile,
  counts: (entry: ts.Node) => boolean,
): Edit[][] {
  const text = (one: ts.Node) => one.getText(source)
  const replace = (one: ts.Node, by: string): Edit[] => [
    { start: one.getStart(source), end: one.end, text: by },
  ]
  if (ts.isConditionalExpression(node)) {
    // An unread value is only not evaluated.
    const ways = /\.wired\(/.test(text(node.condition)) ? [node.whenFalse] : [node.whenTrue, node.whenFalse]
    return ways.map((way) => replace(node, `(${text(way)})`))
  }
  if (ts.isBinaryExpression(node)) return binary(node, text, replace)
  if (ts.isIfStatement(node)) {
    const never = replace(node.expression, 'false')
    return endsThere(node.thenStatement) ? [never] : [never, replace(node.expression, 'true')]
  }
  if (ts.isExpressionStatement(node)) return [replace(node, ';')]
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [replace(node, text(node.operand))]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replace(node, 'false')]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replace(node, 'true')]
  if (ts.isNumericLiteral(node)) return [replace(node, `(${text(node)} + 1)`)]
  if (ts.isCallExpression(node)) return call(node, text, replace)
  if (ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node)) return members(node, counts)
  return []
}

type Text = (node: ts.Node) => string
type Replace = (node: ts.Node, by: string) => Edit[]

const swapped: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.AsteriskToken]: '/',
  [ts.SyntaxKind.SlashToken]: '*',
}

function binary(node: ts.BinaryExpression, text: Text, replace: Replace): Edit[][] {
  const kind = node.operatorToken.kind
  if (kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.BarBarToken)
    return [node.left, node.right].map((side) => replace(node, `(${text(side)})`))
  // Whether a limit that is somewhere far out belongs to what is allowed is no promise.
  if (/^[A-Z_]+$/.test(text(node.right))) return []
  const by = swapped[kind]
  return by === undefined ? [] : [replace(node.operatorToken, by)]
}

const withoutEffect = new Set(['trim', 'toLowerCase', 'filter', 'slice', 'replace'])

/** `x.trim()` becomes `x`: what a step of a chain does is gone. */
function call(node: ts.CallExpression, text: Text, replace: Replace): Edit[][] {
  const { expression } = node
  if (!ts.isPropertyAccessExpression(expression) || !withoutEffect.has(expression.name.text)) return []
  return [replace(node, text(expression.expression))]
}

/** Each entry of an object or list is left out once. */
function members(
  node: ts.ObjectLiteralExpression | ts.ArrayLiteralExpression,
  counts: (entry: ts.Node) => boolean,
): Edit[][] {
  const entries: ts.NodeArray<ts.Node> = ts.isObjectLiteralExpression(node) ? node.properties : node.elements
  return entries.flatMap((entry, place) => {
    const end = entries[place + 1]?.getStart() ?? entries.end
    return counts(entry) ? [[{ start: entry.getStart(), end, text: '' }]] : []
  })
}

function endsThere(statement: ts.Statement): boolean {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement
  return last !== undefined && (ts.isReturnStatement(last) || ts.isThrowStatement(last))
}
