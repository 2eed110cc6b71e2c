/**
 * Text with values, for those who want no code: a template literal whose values are plain paths. In the field each value
 * stands between two characters that no keyboard has, so that text of any kind can stand around it.
 */
import type { Expression } from '../../../expressions/language/expression.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'

const OPEN = '\uE000'
const CLOSE = '\uE001'

/** Where the values of a text stand in the field. */
export function valuesIn(
  field: string,
): { readonly path: string; readonly start: number; readonly end: number }[] {
  return [...field.matchAll(new RegExp(`${OPEN}([^${OPEN}${CLOSE}]*)${CLOSE}`, 'g'))].map((found) => ({
    path: found[1] ?? '',
    start: found.index,
    end: found.index + found[0].length,
  }))
}

export function valueInField(path: string): string {
  return `${OPEN}${path}${CLOSE}`
}

/** The expression as text with values; undefined when it is more than that. */
export function fieldText(expression: string): string | undefined {
  const root = parseExpression(expression).expression?.root
  if (root?.kind === 'literal' && typeof root.value === 'string') return plain(root.value)
  if (root?.kind !== 'template') return undefined
  const paths = root.values.map((value) => pathOf(value))
  if (!paths.every((path) => path !== undefined)) return undefined
  return root.texts
    .map((text, at) => plain(text) + (at < paths.length ? valueInField(paths[at] ?? '') : ''))
    .join('')
}

/** Text with values as a template literal. */
export function templateOf(field: string): string {
  let template = ''
  let at = 0
  for (const { path, start, end } of valuesIn(field)) {
    template += `${escaped(field.slice(at, start))}\${${path}}`
    at = end
  }
  return `\`${template}${escaped(field.slice(at))}\``
}

function escaped(text: string): string {
  return plain(text).replace(/\\|`|\$(?=\{)/g, '\\$&')
}

function plain(text: string): string {
  return text.replace(/[\uE000\uE001]/g, '')
}

function pathOf(part: Expression): string | undefined {
  if (part.kind === 'name') return part.inBlocks ? `blocks.${part.name}` : part.name
  if (part.kind !== 'member') return undefined
  const of = pathOf(part.of)
  return of === undefined ? undefined : `${of}.${part.key}`
}
