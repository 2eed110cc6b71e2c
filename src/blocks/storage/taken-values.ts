import { type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { UniqueConflict } from '../../storage/unique/unique-conflict.ts'
import type { OutPin } from '../pin.ts'

/** Out-pins of blocks whose write another document may refuse. */
export const takenOut = {
  taken: {
    type: 'array',
    help: 'After conflict: the names of the unique fields whose values another document has.',
  },
} as const satisfies Readonly<Record<string, OutPin>>

/** What the write gives; where another document has its unique value, what `refused` makes of the names of the fields. */
export function orTaken<T, R>(
  write: () => MaybePromise<T>,
  refused: (taken: string[]) => MaybePromise<R>,
): MaybePromise<T | R> {
  return recover(write, (error) => {
    if (error instanceof UniqueConflict) return refused([...(error.fields ?? [])])
    throw error
  })
}
