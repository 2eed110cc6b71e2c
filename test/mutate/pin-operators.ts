/** Changes that touch what a block's pins promise: a pin is ignored, its default differs, it is not required. */
import ts from 'typescript'
import { type Declared, idOf, initialOf } from './block-definition.ts'
import type { Edit } from './mutant.ts'

/** `promised`: whether the pin of this id is one that counts. */
export function changesOfPins(declared: Declared, promised: (pin: string) => boolean): Edit[][] {
  const changes: Edit[][] = []
  for (const part of [declared.in, declared.out])
    for (const [pin, schema] of part) if (promised(pin)) changes.push(...schemaChanges(schema))
  for (const [pin, schema] of declared.in)
    if (promised(pin))
      changes.push(...ignoring(declared, pin, initialOf(schema, 'default')?.getText() ?? 'undefined'))
  return changes
}

/** Of settings, which the contract does not name: their bounds and defaults. */
export function changesOfSettings(declared: Declared): Edit[][] {
  return [...declared.settings.values()].flatMap(schemaChanges)
}

const flags = new Set(['required', 'several', 'integer', 'perFrame', 'event'])

function schemaChanges(schema: ts.ObjectLiteralExpression): Edit[][] {
  return schema.properties.flatMap((property): Edit[][] => {
    if (!ts.isPropertyAssignment(property)) return []
    const [name, value] = [idOf(property), property.initializer]
    const edit = (text: string): Edit[] => [{ start: value.getStart(), end: value.end, text }]
    if (flags.has(name) && value.kind === ts.SyntaxKind.TrueKeyword) return [edit('false')]
    if (name === 'min') return [edit('-1e9')]
    if (name === 'max') return [edit('1e9')]
    if (name !== 'default') return []
    const by = otherDefault(value)
    return by === undefined ? [] : [edit(by)]
  })
}

function otherDefault(value: ts.Expression): string | undefined {
  if (ts.isStringLiteral(value)) return value.text === '' ? "'x'" : undefined
  if (value.kind === ts.SyntaxKind.TrueKeyword) return 'false'
  if (value.kind === ts.SyntaxKind.FalseKeyword) return 'true'
  return ts.isNumericLiteral(value) || ts.isPrefixUnaryExpression(value)
    ? `(${value.getText()} + 1)`
    : undefined
}

/** The block goes on as if nothing but the default had come in on the pin. */
function ignoring({ node }: Declared, pin: string, standard: string): Edit[][] {
  const accesses: Edit[] = []
  const whole: Edit[] = []
  const changes: Edit[][] = []
  const visit = (one: ts.Node): void => {
    if (ts.isPropertyAccessExpression(one) && one.getText() === `inputs.${pin}`)
      accesses.push({ start: one.getStart(), end: one.end, text: `(${standard})` })
    else if (ts.isCallExpression(one))
      for (const argument of one.arguments)
        if (argument.getText() === 'inputs')
          whole.push({
            start: argument.getStart(),
            end: argument.end,
            text: `{ ...inputs, ${pin}: ${standard} }`,
          })
    if (ts.isObjectBindingPattern(one) && ts.isParameter(one.parent)) {
      const edit = unbound(one, pin, standard)
      if (edit) changes.push([edit])
    }
    ts.forEachChild(one, visit)
  }
  for (const property of node.properties)
    if (ts.isFunctionLike(property) || isFunctionValue(property)) visit(property)
  if (accesses.length > 0) changes.push(accesses)
  else if (whole.length > 0) changes.push(whole)
  return changes
}

const isFunctionValue = (property: ts.ObjectLiteralElementLike) =>
  ts.isPropertyAssignment(property) && ts.isArrowFunction(property.initializer)

function unbound(pattern: ts.ObjectBindingPattern, pin: string, standard: string): Edit | undefined {
  // The first parameter of a function of the definition: its inputs.
  const parameter = pattern.parent
  if (!ts.isParameter(parameter) || parameter.parent.parameters[0] !== parameter) return undefined
  for (const element of pattern.elements) {
    const property = element.propertyName ?? element.name
    if (element.dotDotDotToken)
      return { start: element.getStart(), end: element.getStart(), text: `${pin}: _, ` }
    if (property.getText() !== pin) continue
    const initializer = element.initializer?.getText() ?? standard
    return {
      start: element.getStart(),
      end: element.end,
      text: `ignored: ${element.name.getText()} = ${initializer}`,
    }
  }
  return undefined
}
