import { propertiesTexts } from '../../texts/properties.ts'
import { glance } from '../model/runs/glance.ts'
import { type ExpressionScope, fieldsIn, knownValue } from './expression-scope.ts'
import { givenNames, isGivenName } from './given-names.ts'

export interface ValueChoice {
  /** As an expression says it: `goods.document.title`. */
  readonly path: string
  /** The value that it had the last time, or what kind of value it is. */
  readonly detail: string
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
/** More are no help to choose from. */
const MOST_FIELDS = 40

/** What can be put into a text: names of the run, pins of blocks, and the fields that they had the last time. */
export function valueChoices(scope: ExpressionScope): ValueChoice[] {
  const given = givenNames.flatMap(({ name, help }) => withFields([name], help, scope))
  const pins = scope.blocks.flatMap(({ name, title, pins: all }) => {
    const start = isGivenName(name) ? ['blocks', name] : [name]
    return all.flatMap(({ id, type }) =>
      withFields([...start, id], propertiesTexts.typeOf(type, title), scope),
    )
  })
  return [...pins, ...given]
}

function withFields(path: readonly string[], what: string, scope: ExpressionScope): ValueChoice[] {
  const value = knownValue(scope, path)
  const fields = Object.entries(fieldsIn(value)).filter(([key]) => IDENTIFIER.test(key))
  return [
    { path: path.join('.'), detail: value === undefined ? what : glance(value) },
    ...fields
      .slice(0, MOST_FIELDS)
      .map(([key, field]) => ({ path: [...path, key].join('.'), detail: glance(field) })),
  ]
}
