import type { BlockContent } from '../../../shared/blueprint.ts'
import { ENVIRONMENT_NAME } from '../../../shared/names/environment-name.ts'
import { namesOf } from '../expression-names.ts'
import { parseExpression } from '../parse-expression.ts'

/** The names of values of the environment that expressions of blocks read, `NAME` of `env.NAME`, sorted. */
export function environmentNames(blocks: readonly Pick<BlockContent, 'in_pins'>[]): readonly string[] {
  const names = new Set<string>()
  for (const { in_pins: pins } of blocks)
    for (const { expression: text } of pins) if (text?.includes('env')) collect(text, names)
  return [...names].sort()
}

const isName = new RegExp(ENVIRONMENT_NAME)

function collect(text: string, names: Set<string>): void {
  const { expression } = parseExpression(text)
  if (!expression) return
  for (const { name, inBlocks, path } of namesOf(expression)) {
    const [key] = path
    if (name === 'env' && !inBlocks && key !== undefined && isName.test(key)) names.add(key)
  }
}
