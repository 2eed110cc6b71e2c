/**
 * Whether there is one order of concurrent calls that explains every answer: each call takes effect at one moment between
 * its request and its answer (Wing and Gong 1993, with the memoization of Lowe that Porcupine uses).
 *
 * A call without an answer (the connection broke) may have taken effect at any moment since, or never.
 */
export interface Call<Input, Output> {
  /** Times of one monotonic clock. */
  readonly invoked: number
  /** Infinity when there was no answer. */
  readonly returned: number
  readonly input: Input
  /** undefined when there was no answer. */
  readonly output: Output | undefined
}

export interface Model<State, Input, Output> {
  readonly initial: State
  /** The state after the call; undefined when it cannot have this answer in this state. */
  step(state: State, input: Input, output: Output | undefined): State | undefined
  /** The same text for the same state. */
  key(state: State): string
}

export type Verdict = 'linearizable' | 'not linearizable' | 'undecided'

interface Link<Input, Output> {
  next: Entry<Input, Output> | undefined
}

interface Entry<Input, Output> extends Link<Input, Output> {
  /** Place of the call in the list. */
  readonly id: number
  readonly call: Call<Input, Output>
  /** The entry of its answer; undefined in that entry itself, and where there is none. */
  readonly answer: Entry<Input, Output> | undefined
  readonly isAnswer: boolean
  readonly time: number
  previous: Link<Input, Output> | undefined
}

/** `budget`: how many steps to try before it is given up as undecided. */
export function linearizable<State, Input, Output>(
  calls: readonly Call<Input, Output>[],
  model: Model<State, Input, Output>,
  budget = 2_000_000,
): Verdict {
  const head = entriesOf(calls)
  const taken = new Uint32Array(Math.ceil(calls.length / 32))
  const tried = new Set<string>()
  const stack: { readonly entry: Entry<Input, Output>; readonly state: State }[] = []
  let state = model.initial
  let answersLeft = calls.filter(({ returned }) => returned !== Number.POSITIVE_INFINITY).length
  let entry = head.next
  for (let step = 0; answersLeft > 0; step++) {
    if (step > budget) return 'undecided'
    if (entry === undefined || entry.isAnswer) {
      // Its call has to be placed before: another choice further up.
      const last = stack.pop()
      if (last === undefined) return 'not linearizable'
      state = last.state
      flip(taken, last.entry.id)
      if (last.entry.answer) answersLeft += 1
      putBack(last.entry)
      entry = last.entry.next
      continue
    }
    const after = model.step(state, entry.call.input, entry.call.output)
    if (after !== undefined) {
      flip(taken, entry.id)
      const key = `${taken.join()} ${model.key(after)}`
      if (!tried.has(key)) {
        tried.add(key)
        stack.push({ entry, state })
        state = after
        if (entry.answer) answersLeft -= 1
        takeOut(entry)
        entry = head.next
        continue
      }
      flip(taken, entry.id)
    }
    entry = entry.next
  }
  return 'linearizable'
}

/** Calls and answers in the order of their times; gives what is before the first one. */
function entriesOf<Input, Output>(calls: readonly Call<Input, Output>[]): Link<Input, Output> {
  const entries = calls.flatMap((call, id): Entry<Input, Output>[] => {
    const own = { id, call, previous: undefined, next: undefined, answer: undefined }
    const { invoked, returned } = call
    if (returned === Number.POSITIVE_INFINITY) return [{ ...own, isAnswer: false, time: invoked }]
    const answer = { ...own, isAnswer: true, time: returned }
    return [{ ...own, answer, isAnswer: false, time: invoked }, answer]
  })
  // What meets in one moment is concurrent.
  entries.sort((a, b) => a.time - b.time || Number(a.isAnswer) - Number(b.isAnswer))
  const head: Link<Input, Output> = { next: undefined }
  let last: Link<Input, Output> = head
  for (const entry of entries) {
    entry.previous = last
    last.next = entry
    last = entry
  }
  return head
}

function takeOut<Input, Output>(entry: Entry<Input, Output>): void {
  for (const one of [entry, entry.answer]) {
    if (one?.previous) one.previous.next = one.next
    if (one?.next) one.next.previous = one.previous
  }
}

/** In the opposite order. */
function putBack<Input, Output>(entry: Entry<Input, Output>): void {
  for (const one of [entry.answer, entry]) {
    if (one?.previous) one.previous.next = one
    if (one?.next) one.next.previous = one
  }
}

function flip(bits: Uint32Array, id: number): void {
  const word = id >> 5
  bits[word] = (bits[word] ?? 0) ^ (1 << (id & 31))
}
