/** What a block's file declares, read from its text: its pins and settings, and where they are written. */
import ts from 'typescript'

export interface Declared {
  /** The schemas in `in`, `out` and `settings`, by id. */
  readonly in: ReadonlyMap<string, ts.ObjectLiteralExpression>
  readonly out: ReadonlyMap<string, ts.ObjectLiteralExpression>
  readonly settings: ReadonlyMap<string, ts.ObjectLiteralExpression>
  /** The object that is given to defineValue, defineFlow or defineTrigger. */
  readonly node: ts.ObjectLiteralExpression
}

/** The definition that a node contains; undefined when it contains none. */
export function declaredIn(root: ts.Node): Declared | undefined {
  const node = findDefinition(root)
  return (
    node && { node, in: pinsIn(node, 'in'), out: pinsIn(node, 'out'), settings: pinsIn(node, 'settings') }
  )
}

function findDefinition(node: ts.Node): ts.ObjectLiteralExpression | undefined {
  if (ts.isCallExpression(node) && /^define(?:Value|Flow|Trigger)$/.test(node.expression.getText())) {
    const [first] = node.arguments
    if (first && ts.isObjectLiteralExpression(first)) return first
  }
  return ts.forEachChild(node, findDefinition)
}

function pinsIn(
  definition: ts.ObjectLiteralExpression,
  part: string,
): Map<string, ts.ObjectLiteralExpression> {
  const pins = new Map<string, ts.ObjectLiteralExpression>()
  const schema = initialOf(definition, part)
  if (schema === undefined || !ts.isObjectLiteralExpression(schema)) return pins
  for (const pin of schema.properties)
    if (ts.isPropertyAssignment(pin) && ts.isObjectLiteralExpression(pin.initializer))
      pins.set(idOf(pin), pin.initializer)
  return pins
}

/** What a property of an object literal is set to. */
export function initialOf(object: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  for (const property of object.properties)
    if (ts.isPropertyAssignment(property) && idOf(property) === name) return property.initializer
  return undefined
}

export function idOf(property: ts.ObjectLiteralElementLike): string {
  const { name } = property
  if (name === undefined) return ''
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : name.getText()
}
