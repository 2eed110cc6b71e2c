/**
 * Time that goes on only by what is to happen next. Everything that waits in a simulation waits here: timers of the code
 * under test, replies under way, faults. Of what happens at the same time chance decides which comes first. Between two
 * of them all promises that can go on do, so the same seed gives the same order of everything.
 */
import type { Timers } from '../../../src/shared/clock.ts'
import type { RandomSource } from '../random-source.ts'

/** To whom a timer belongs: a simulated process. */
export interface Owner {
  /** It was killed: nothing of it happens any more. */
  gone: boolean
  /** It is stopped until then: what is due before happens then, all at once. */
  frozenUntil: number
}

interface Happening {
  time: number
  tie: number
  readonly owner: Owner
  call: (() => void) | undefined
}

export class VirtualTime {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 0, 1)
  /** How many things have happened. */
  steps = 0
  readonly #dice: RandomSource
  /** The next one last. */
  #due: Happening[] = []

  constructor(dice: RandomSource) {
    this.#dice = dice
  }

  /** Gives a function that takes it back. */
  at(owner: Owner, time: number, call: () => void): () => void {
    const happening: Happening = { time, tie: this.#dice.number(), owner, call }
    this.#add(happening)
    return () => {
      happening.call = undefined
    }
  }

  /** Never resolves when the owner is killed meanwhile. */
  wait(owner: Owner, ms: number): Promise<void> {
    return new Promise((resolve) => void this.at(owner, this.now + ms, resolve))
  }

  timers(owner: Owner): Timers {
    return {
      after: (ms, call) => this.#timer(owner, ms, call, false),
      every: (ms, call) => this.#timer(owner, ms, call, true),
      soon: (call) => void this.at(owner, this.now, call),
    }
  }

  /** Lets happen what happens before `until`, or until nothing more does, or `over` says so. */
  async run(until: number, over: () => boolean = () => false): Promise<void> {
    await settled()
    while (!over()) {
      const next = this.#due.pop()
      if (next === undefined) return
      if (next.call === undefined || next.owner.gone) continue
      if (next.owner.frozenUntil > next.time) {
        next.time = next.owner.frozenUntil
        this.#add(next)
        continue
      }
      if (next.time > until) {
        this.#add(next)
        break
      }
      this.now = Math.max(this.now, next.time)
      this.steps += 1
      next.call()
      await settled()
    }
    if (!over()) this.now = Math.max(this.now, until)
  }

  #add(happening: Happening): void {
    const later = (one: Happening) =>
      one.time > happening.time || (one.time === happening.time && one.tie >= happening.tie)
    let low = 0
    let high = this.#due.length
    while (low < high) {
      const middle = (low + high) >> 1
      const one = this.#due[middle]
      if (one && later(one)) low = middle + 1
      else high = middle
    }
    this.#due.splice(low, 0, happening)
  }

  #timer(owner: Owner, ms: number, call: () => void, again: boolean) {
    let cancel: () => void
    const start = () => {
      cancel = this.at(owner, this.now + ms, () => {
        if (again) start()
        call()
      })
    }
    start()
    return {
      end: () => cancel(),
      refresh() {
        cancel()
        start()
      },
      ref: () => undefined,
      unref: () => undefined,
    }
  }
}

/** All promises that can go on have gone on: they do before the event loop turns. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

export function newOwner(): Owner {
  return { gone: false, frozenUntil: 0 }
}
