/**
 * Whether every view (a list, or a document that was read) shows one moment between its request and its answer, all of
 * them in the same history. Each key has one writer, so the order of its changes is known, and a change to several keys
 * (one transaction) is one moment for all.
 *
 * A view that shows the state that a change made is after that change and before the next one of the key. With the
 * times of requests and answers this is a set of "before", which can be kept exactly when nothing is before itself and
 * everything that has to be before something began early enough.
 */
export interface Change {
  readonly name: string
  readonly invoked: number
  /** Infinity when there was no answer: it may have happened since, or never. */
  readonly returned: number
  /** What the keys are afterwards; null = there is nothing. Each state of a key is unique, but for null. */
  readonly sets: ReadonlyMap<string, string | null>
}

export interface View {
  readonly name: string
  readonly invoked: number
  readonly returned: number
  /** Every key in question, those that are not there (null) as well. */
  readonly sees: ReadonlyMap<string, string | null>
}

interface Moment {
  readonly name: string
  readonly returned: number
  earliest: number
  /** Why it cannot be earlier. */
  reason: string
  readonly after: Moment[]
  /** How many are before it. */
  before: number
}

/** The changes of each key in their order. Gives what cannot be, in words; a few for each violation. */
export function momentProblems(changes: readonly Change[], views: readonly View[]): string[] {
  const problems: string[] = []
  const moments = new Map<Change | View, Moment>()
  for (const one of [...changes, ...views])
    moments.set(one, {
      name: one.name,
      returned: one.returned,
      earliest: one.invoked,
      reason: '',
      after: [],
      before: 0,
    })
  const order = (first: Change | View | undefined, then: Change | View | undefined) => {
    const [one, other] = [first && moments.get(first), then && moments.get(then)]
    if (!one || !other) return
    one.after.push(other)
    other.before += 1
  }
  const histories = historiesOf(changes)
  for (const history of histories.values())
    for (const [at, change] of history.entries()) order(history[at - 1], change)
  for (const view of views)
    for (const [key, state] of view.sees) {
      const history = histories.get(key) ?? []
      const shown = placeOf(view, history, key, state)
      if (shown === 'unknown') problems.push(`${view.name} shows ${key} = ${state}, which was never written`)
      else if (shown !== 'either') {
        order(history[shown], view)
        order(view, history[shown + 1])
      }
    }
  return [...problems, ...orderProblems([...moments.values()])]
}

function historiesOf(changes: readonly Change[]): Map<string, Change[]> {
  const histories = new Map<string, Change[]>()
  for (const change of changes)
    for (const key of change.sets.keys()) {
      const history = histories.get(key) ?? []
      const last = history.at(-1)
      if (last && last.returned > change.invoked)
        throw new RangeError(`${change.name} does not come after ${last.name}, and both change ${key}.`)
      history.push(change)
      histories.set(key, history)
    }
  return histories
}

/** Which change of the key made what the view shows; -1: none yet. */
function placeOf(
  view: View,
  history: readonly Change[],
  key: string,
  state: string | null,
): number | 'unknown' | 'either' {
  const place = history.findIndex(({ sets }) => sets.get(key) === state)
  if (state !== null) return place < 0 ? 'unknown' : place
  if (place < 0) return -1
  // Not there any more, or not there yet? Where both can be, it says nothing.
  const [first] = history
  const gone = history[place]
  const notYet = first === undefined || view.invoked <= first.returned
  const noMore = gone === undefined || view.returned >= gone.invoked
  if (notYet && noMore) return 'either'
  return noMore ? place : -1
}

/** Walks from what nothing is before; what is left over goes in circles. */
function orderProblems(moments: readonly Moment[]): string[] {
  const problems: string[] = []
  const ready = moments.filter(({ before }) => before === 0)
  let walked = 0
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    walked += 1
    if (next.earliest > next.returned) {
      problems.push(`${next.name} ended before ${next.reason} began, and shows or precedes what it did`)
      next.earliest = Number.NEGATIVE_INFINITY
    }
    for (const later of next.after) {
      if (next.earliest > later.earliest) {
        later.earliest = next.earliest
        later.reason = next.reason || next.name
      }
      later.before -= 1
      if (later.before === 0) ready.push(later)
    }
  }
  if (walked < moments.length) {
    const circle = moments.filter(({ before }) => before > 0).map(({ name }) => name)
    problems.push(`these show no common order: ${circle.slice(0, 5).join('; ')} (${circle.length} in all)`)
  }
  return problems
}
