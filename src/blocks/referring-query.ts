import { QuoinError } from '../shared/errors.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Query } from '../shared/query.ts'
import { throughReferences } from '../storage/reference/through-references.ts'
import { PinError } from './block.ts'
import type { FlowContext } from './context.ts'
import { narrowed } from './where-pin.ts'

interface Asked {
  readonly query: Query | undefined
  readonly where: Query | undefined
}

/** What the pins `query` and `where` ask for together, also of what documents refer to. Throws PinError. */
export function referringQuery(
  { references }: Pick<FlowContext, 'references'>,
  storage: string,
  { query, where }: Asked,
): MaybePromise<Query> {
  if (where === undefined) return narrowed(query, where)
  return andThen(references(storage), (known) => {
    try {
      return narrowed(query, throughReferences(where, known))
    } catch (error) {
      throw error instanceof QuoinError ? new PinError('where', `cannot be asked: ${error.message}`) : error
    }
  })
}
