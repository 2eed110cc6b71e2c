import type { BlockContent } from '../blueprint.ts'
import { SECRET_NAME, SECRET_PIN } from '../secret-name.ts'

const isName = new RegExp(SECRET_NAME)

/** The names of secrets that blocks use, sorted. Without the catalogue: ids of pins tell which ones hold secrets. */
export function secretNamesOf(blocks: readonly Pick<BlockContent, 'in_pins'>[]): readonly string[] {
  const names = new Set<string>()
  for (const { in_pins: pins } of blocks)
    for (const { id, value } of pins)
      if (SECRET_PIN.test(id) && typeof value === 'string' && isName.test(value)) names.add(value)
  return [...names].sort()
}
