import { QuoinError } from '../shared/errors.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Query } from '../shared/query.ts'
import type { Reference } from '../storage/reference/references.ts'
import { throughReferences } from '../storage/reference/through-references.ts'
import { otherStorages } from '../storage/search/other-storages.ts'
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
  return andThen(references(storage), (known) => narrowed(query, resolved(where, known)))
}

/** For changes: what is referred to may be another document by the time that one is changed. Throws PinError. */
export function refuseReferring(
  { references }: Pick<FlowContext, 'references'>,
  storage: string,
  where: Query,
): MaybePromise<void> {
  return andThen(references(storage), (known) => {
    if (known.length === 0 || otherStorages(resolved(where, known)).length === 0) return
    throw new PinError(
      'where',
      'asks for fields of documents that others refer to, which a change of many cannot: search for them first, and name their guids',
    )
  })
}

function resolved(where: Query, references: readonly Reference[]): Query {
  try {
    return throughReferences(where, references)
  } catch (error) {
    throw error instanceof QuoinError ? new PinError('where', `cannot be asked: ${error.message}`) : error
  }
}
