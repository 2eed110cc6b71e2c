import { QuoinError } from '../shared/errors.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Query, SortKey } from '../shared/query.ts'
import { behindProblem, type Reference } from '../storage/reference/references.ts'
import { throughReferences } from '../storage/reference/through-references.ts'
import { otherStorages } from '../storage/search/other-storages.ts'
import { OutdatedPin, PinError } from './block.ts'
import type { FlowContext } from './context.ts'
import { narrowed } from './pins/query-pins.ts'

interface Asked {
  readonly query: Query | undefined
  readonly where: Query | undefined
  readonly sort?: readonly SortKey[]
  /** Names of fields, by the pin that asks for them. */
  readonly read?: ReadonlyMap<string, readonly string[]>
}

/**
 * What the pins `query` and `where` ask for together, also of what documents refer to. Throws PinError, and OutdatedPin for an order
 * or a group by a field of another document.
 */
export function referringQuery(
  { references }: Pick<FlowContext, 'references'>,
  storage: string,
  { query, where, sort = [], read = new Map() }: Asked,
): MaybePromise<Query> {
  const asked = [['sort', sort.map(({ field }) => field)] as const, ...read].filter(([, fields]) =>
    fields.some((field) => field.includes('.') && !field.startsWith('_meta.')),
  )
  if (where === undefined && asked.length === 0) return narrowed(query, where)
  return andThen(references(storage), (known) => {
    for (const [pin, fields] of asked) {
      const problem = behindProblem(fields, known)
      if (problem) throw new OutdatedPin(pin, problem)
    }
    return narrowed(query, where && resolved(where, known))
  })
}

/** Finishes "The pin where …". */
export const changeLeadsOut =
  'asks for fields of documents that others refer to, which a change of many and a wait cannot: search for them first, and name their guids'

/** For changes: what is referred to may be another document by the time that one is changed. Throws PinError and OutdatedPin. */
export function refuseReferring(
  { references }: Pick<FlowContext, 'references'>,
  storage: string,
  where: Query,
): MaybePromise<void> {
  return andThen(references(storage), (known) => {
    if (known.length === 0 || otherStorages(resolved(where, known)).length === 0) return
    throw new OutdatedPin('where', changeLeadsOut)
  })
}

function resolved(where: Query, references: readonly Reference[]): Query {
  try {
    return throughReferences(where, references)
  } catch (error) {
    throw error instanceof QuoinError ? new PinError('where', `cannot be asked: ${error.message}`) : error
  }
}
