/**
 * The threads in which the code of builders runs, loaded with the first call of a block that has some. A thread runs one call at a time:
 *
 *   starting → idle → running → clearing → idle
 *                     running, clearing → replaced: the call did not end, or the thread cannot be used again
 *
 * A thread that clears has answered: it makes away with what the call left and makes a sandbox for the next one, for which no call waits.
 * Calls wait in a queue for each code, and the queues take turns. One code never has all threads: others run beside it. A call gets a slice
 * of time at first. One that needs more begins again, which its code cannot notice, and its code is slow from then on: slow code never has
 * the last thread, so that short code waits for a slice and not for loops, however many of them there are.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { QuoinError } from '../../shared/errors.ts'
import { lruCache } from '../../shared/lru-cache.ts'

/** Characters of the inputs, and of the result, as JSON: reading them takes the event loop up to 10 ms. */
export const MOST_TEXT = 512 * 1024
/** Characters of the inputs of all calls that wait. */
const MOST_WAITING_TEXT = 128 * MOST_TEXT
const MOST_WAITING = 10_000
/** A call that has a thread alone: what does not look at its deadline, such as the sort of a long list, is ended by the thread's end. */
const GRACE = 500
/** Milliseconds of processor time that a call has at first, and of the clock for what does not look at its deadline meanwhile. */
const SLICE = 40
const SLICE_GRACE = 200
/** Codes of which it is known how long they take. */
const MOST_KNOWN = 1_000
/** A thread takes about 30 MB. */
const THREADS = Math.max(2, Math.min(4, availableParallelism()))

export interface CodeCall {
  /** Body of a function, checked. */
  readonly code: string
  readonly parameters: readonly string[]
  /** JSON: a list with a value for each parameter. */
  readonly input: string
  /** Positions of parameters that are dates. */
  readonly dates: readonly number[]
  /** Positions of those without a value. */
  readonly empty: readonly number[]
  /** Milliseconds since 1970. */
  readonly now?: number | undefined
  readonly seed?: string | undefined
  /** Milliseconds of processor time. */
  readonly timeout: number
}

/** A block of an extension, which is a module. */
export interface ModuleCall extends Pick<CodeCall, 'now' | 'seed' | 'timeout'> {
  /** Hash of the modules: what calls wait and take turns by. */
  readonly code: string
  /** Sources by path. Nothing else can be imported. */
  readonly modules: Readonly<Record<string, string>>
  /** Path of the one whose default export is the block. */
  readonly entry: string
  /** JSON: a list of the inputs, the names of those that are dates, the settings, and what was answered so far. Without it the block is described. */
  readonly input: string
}

export type ThreadCall = CodeCall | ModuleCall

export interface CodeOutcome {
  /** `ended`: QuickJS ended it, such as for the memory. `asks`: it cannot go on without answers. */
  readonly kind: 'given' | 'threw' | 'ended' | 'late' | 'asks'
  /** JSON of what was given, or what was wrong. */
  readonly text?: string
}

/** What a thread says: what came of its call, then that the next one may come, or that it cannot be used again. */
export type ThreadMessage = CodeOutcome | 'ready' | 'over'

const FAILED: CodeOutcome = { kind: 'ended', text: 'failed' }

interface WaitingCall {
  readonly call: ThreadCall
  /** The run that waits for it has ended. */
  isOver(): boolean
  settle(outcome: CodeOutcome): void
}

interface Thread {
  readonly worker: Worker
  state: 'starting' | 'idle' | 'running' | 'clearing'
  running: WaitingCall | undefined
  /** Of what runs: slow code has all of its time, other code at first a slice. */
  isSlow: boolean
  isSlice: boolean
  began: number
  timer?: NodeJS.Timeout
}

export type RunCode = (call: ThreadCall, signal: AbortSignal) => Promise<CodeOutcome>

/** Calls that wait for a thread. */
class CodeQueue {
  /** By code. The first one is next. */
  readonly #calls = new Map<string, Set<WaitingCall>>()
  #text = 0
  length = 0

  isFull({ input }: ThreadCall): boolean {
    return this.length >= MOST_WAITING || this.#text + input.length > MOST_WAITING_TEXT
  }

  add(waiting: WaitingCall): void {
    const { code, input } = waiting.call
    this.#calls.set(code, (this.#calls.get(code) ?? new Set()).add(waiting))
    this.length += 1
    this.#text += input.length
  }

  /** Whether it was still there. */
  leave(waiting: WaitingCall): boolean {
    const { code, input } = waiting.call
    const calls = this.#calls.get(code)
    if (!calls?.delete(waiting)) return false
    if (calls.size === 0) this.#calls.delete(code)
    this.length -= 1
    this.#text -= input.length
    return true
  }

  /** The next call, of the first code with the lowest rank. One without a rank has to wait. */
  take(rankOf: (code: string) => number | undefined): WaitingCall | undefined {
    let next: WaitingCall | undefined
    let lowest = Number.POSITIVE_INFINITY
    for (const [code, calls] of this.#calls) {
      const rank = rankOf(code) ?? lowest
      if (rank >= lowest) continue
      lowest = rank
      const [first] = calls
      next = first
      if (rank === 0) break
    }
    if (!next) return undefined
    const { code } = next.call
    const calls = this.#calls.get(code)
    this.leave(next)
    // Behind the others.
    if (calls && this.#calls.delete(code)) this.#calls.set(code, calls)
    return next
  }
}

class CodeThreads {
  readonly #threads = new Set<Thread>()
  readonly #most: number
  readonly #queue: CodeQueue
  readonly #paces = lruCache<string, 'quick' | 'slow'>(MOST_KNOWN)
  /** Code that is known to be quick and code that is not known have their turns one after the other. */
  #isQuickFirst = false

  constructor(most: number, queue: CodeQueue) {
    this.#most = most
    this.#queue = queue
  }

  /** Gives calls that wait to threads that are idle, and starts a thread where there are too few. */
  assign(): void {
    const threads = [...this.#threads]
    for (const thread of threads) {
      if (thread.state !== 'idle') continue
      this.#isQuickFirst = !this.#isQuickFirst
      const waiting = this.#queue.take((code) => this.#rank(code, threads))
      if (!waiting) break
      this.#run(thread, waiting)
    }
    const soon = threads.filter(({ state }) => state === 'starting' || state === 'clearing').length
    if (this.#queue.length > soon && threads.length < this.#most) this.#start()
  }

  /** Undefined: it has to wait. Slow code takes turns with the others while none of it runs, and comes behind them then. */
  #rank(code: string, threads: readonly Thread[]): number | undefined {
    const most = this.#most - 1
    if (threads.filter(({ running }) => running?.call.code === code).length >= most) return undefined
    const pace = this.#paces.get(code)
    if (pace !== 'slow') return (pace === 'quick') === this.#isQuickFirst ? 0 : 1
    const slow = threads.filter(({ running, isSlow }) => running && isSlow).length
    return slow === 0 ? 0 : slow < most ? 2 : undefined
  }

  #run(thread: Thread, waiting: WaitingCall): void {
    const { call } = waiting
    const isSlow = this.#paces.get(call.code) === 'slow'
    const isSlice = !isSlow && call.timeout > SLICE
    const timeout = isSlice ? SLICE : call.timeout
    Object.assign(thread, { state: 'running', running: waiting, isSlow, isSlice, began: performance.now() })
    const longest = 2 * timeout + (isSlice ? SLICE_GRACE : GRACE)
    thread.timer = setTimeout(() => this.#replace(thread, { kind: 'late' }), longest)
    thread.worker.ref()
    thread.worker.postMessage({ ...call, timeout })
  }

  #settle(thread: Thread, outcome: CodeOutcome): void {
    const { running, isSlice, began } = thread
    thread.state = 'clearing'
    thread.running = undefined
    if (!running) return
    const { code } = running.call
    const isLate = outcome.kind === 'late'
    if (isLate) this.#paces.set(code, 'slow')
    else if (performance.now() - began < SLICE) this.#paces.set(code, 'quick')
    if (isLate && isSlice && !running.isOver()) this.#queue.add(running)
    else running.settle(outcome)
  }

  #release(thread: Thread): void {
    clearTimeout(thread.timer)
    thread.state = 'idle'
    thread.worker.unref()
  }

  #replace(thread: Thread, outcome: CodeOutcome): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    // A thread that cannot start costs one call, so that calls do not wait for threads that never come.
    if (thread.state === 'starting') this.#queue.take(() => 0)?.settle(outcome)
    this.#settle(thread, outcome)
    this.assign()
  }

  #start(): void {
    const worker = new Worker(new URL('./code-thread-program.ts', import.meta.url), {
      // QuickJS writes to them when it fails.
      ...{ stdout: true, stderr: true },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 64, stackSizeMb: 4 },
    })
    const idle = { running: undefined, isSlow: false, isSlice: false, began: 0 }
    const thread: Thread = { worker, state: 'starting', ...idle }
    this.#threads.add(thread)
    worker.on('message', (message: ThreadMessage) => {
      if (message === 'over') return this.#replace(thread, FAILED)
      if (message !== 'ready') return this.#settle(thread, message)
      this.#release(thread)
      this.assign()
    })
    worker.on('error', () => this.#replace(thread, FAILED))
    worker.on('exit', () => this.#replace(thread, FAILED))
  }
}

/** Threads are started when calls need them. They end with the process. `most`: at least two. */
export function codeThreads(most = THREADS): RunCode {
  const queue = new CodeQueue()
  const threads = new CodeThreads(most, queue)
  return (call, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted || queue.isFull(call)) return reject(busy())
      const giveUp = () => {
        if (queue.leave(waiting)) reject(busy())
      }
      const waiting: WaitingCall = {
        call,
        isOver: () => signal.aborted,
        settle(outcome) {
          signal.removeEventListener('abort', giveUp)
          resolve(outcome)
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      queue.add(waiting)
      threads.assign()
    })
}

/** Of this process. */
export const runCode: RunCode = codeThreads()

function busy(): QuoinError {
  return new QuoinError('UNAVAILABLE', 'Too much code of blocks waits for a thread. Try again later.', {
    retryAfter: 1,
  })
}
