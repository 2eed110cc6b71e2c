import type { Listens } from '../../../blocks/block.ts'
import type { Expression } from '../../../expressions/language/expression.ts'
import { type NameUse, namesOf } from '../../../expressions/language/expression-names.ts'
import type { Node, PinExpression, Wire } from '../blueprint-graph.ts'

/** How a place that reads an out-pin is found again: `goods.document`, or `item` alone. */
export function readKey(name: string, inBlocks: boolean, pin?: string): string {
  return `${inBlocks ? 'blocks.' : ''}${name}${pin === undefined ? '' : `.${pin}`}`
}

/** The wire of a part that is nothing but a name, or the name of a block and its pin. */
export function referencedWire(part: Expression, { wires }: Pick<PinExpression, 'wires'>): Wire | undefined {
  const key = referencedKey(part)
  return key === undefined ? undefined : wires.get(key)
}

/** The {@link readKey} of such a part. */
export function referencedKey(part: Expression): string | undefined {
  if (part.kind === 'name' && !part.inBlocks) return readKey(part.name, false)
  if (part.kind !== 'member' || part.of.kind !== 'name') return undefined
  return readKey(part.of.name, part.of.inBlocks, part.key)
}

/** Names whose values come from the client. In a custom function, `params` come from its caller. */
const sentNames: ReadonlySet<string> = new Set(['params', 'query', 'body', 'headers'])

/** The parameter that a place reads, if what it reads was sent by the client, or was given by the caller of a function. */
export function sentName({ name, inBlocks, path }: NameUse): string | undefined {
  return !inBlocks && sentNames.has(name) ? (path[0] ?? name) : undefined
}

/** The first parameter that an expression reads of what starts such triggers. */
export function sentBy(expression: PinExpression, from: ReadonlySet<Listens>): string | undefined {
  const { parsed, runNames: names, reachedBy } = expression
  if (names.size === 0 || ![...reachedBy].some((trigger) => startedBy(trigger, from))) return undefined
  const fits = (use: NameUse) => from.has('http') || use.name === 'params'
  return namesOf(parsed)
    .map((use) => (fits(use) ? sentName(use) : undefined))
    .find((one) => one !== undefined)
}

/** The field that an expression reads of what a wire gives: `name` of `form.values.name`. */
export function fieldOf({ parsed, wires }: PinExpression, wire: Wire): string | undefined {
  return namesOf(parsed).find(
    ({ name, inBlocks, path }) => wires.get(readKey(name, inBlocks, path[0])) === wire && path.length > 1,
  )?.path[1]
}

/** The names of the address's parameters that an expression reads. */
export function addressFields({ parsed }: PinExpression): readonly string[] {
  return namesOf(parsed).flatMap(({ name, inBlocks, path: [field] }) =>
    !inBlocks && (name === 'params' || name === 'query') && field !== undefined ? [field] : [],
  )
}

function startedBy({ definition }: Node, from: ReadonlySet<Listens>): boolean {
  return definition.kind === 'trigger' && from.has(definition.on)
}
