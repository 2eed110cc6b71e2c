import type { Compiler, Evaluate } from '../evaluate.ts'
import type { Index, Member } from '../expression.ts'
import { fieldReader, isKey, readIndex } from '../read-field.ts'
import { kindOf } from '../value-kind.ts'

export function compileField<F>(part: Member, compiler: Compiler<F>): Evaluate<F> {
  const outer = fieldReader(part.key)
  const direct = fieldOfName(part, compiler)
  if (direct) return direct
  if (part.of.kind !== 'member' || fieldOfName(part.of, compiler)) {
    const of = compiler.compile(part.of)
    return (frame, locals) => outer(of(frame, locals))
  }
  // Two fields at a time: half the calls of `order.customer.address.city`.
  const inner = fieldReader(part.of.key)
  const of = compiler.compile(part.of.of)
  return (frame, locals) => outer(inner(of(frame, locals)))
}

function fieldOfName<F>({ of, key }: Member, { host }: Compiler<F>): ((frame: F) => unknown) | undefined {
  return of.kind === 'name' ? host.field?.(of.name, of.inBlocks, key) : undefined
}

export function compileIndex<F>(part: Index, compiler: Compiler<F>): Evaluate<F> {
  const [of, key] = [compiler.compile(part.of), compiler.compile(part.key)]
  return (frame, locals) => {
    const at = key(frame, locals)
    if (isKey(at)) return readIndex(of(frame, locals), at)
    throw compiler.error(
      `An index must be a number or the name of a field; this one is ${kindOf(at)}.`,
      part.key,
    )
  }
}
