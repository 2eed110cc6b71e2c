/**
 * The threads in which the code of builders runs, loaded with the first call of a block that has some. A thread runs one call at a time:
 *
 *   starting → idle → running → clearing → idle
 *                     running, clearing → replaced: the call did not end, or the thread cannot be used again
 *
 * A thread that clears has answered: it makes away with what the call left and makes a sandbox for the next one, for which no call waits.
 * Calls wait in a queue for each code, and the queues take turns. One code never has all threads: others run beside it.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { QuoinError } from '../../shared/errors.ts'

/** Characters of the inputs, and of the result, as JSON: reading them takes the event loop up to 10 ms. */
export const MOST_TEXT = 512 * 1024
/** Characters of the inputs of all calls that wait. */
const MOST_WAITING_TEXT = 128 * MOST_TEXT
const MOST_WAITING = 10_000
/** A call that has a thread alone: what does not look at its deadline, such as the sort of a long list, is ended by the thread's end. */
const GRACE = 500
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
  settle(outcome: CodeOutcome): void
}

interface Thread {
  readonly worker: Worker
  state: 'starting' | 'idle' | 'running' | 'clearing'
  running: WaitingCall | undefined
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

  /** The next call, of a code that may run. */
  take(mayRun: (code: string) => boolean): WaitingCall | undefined {
    for (const [code, calls] of this.#calls) {
      const [first] = calls
      if (!first || !mayRun(code)) continue
      this.leave(first)
      // Behind the others.
      if (this.#calls.delete(code)) this.#calls.set(code, calls)
      return first
    }
    return undefined
  }
}

class CodeThreads {
  readonly #threads = new Set<Thread>()
  readonly #most: number
  readonly #queue: CodeQueue

  constructor(most: number, queue: CodeQueue) {
    this.#most = most
    this.#queue = queue
  }

  /** Gives calls that wait to threads that are idle, and starts a thread where there are too few. */
  assign(): void {
    const threads = [...this.#threads]
    for (const thread of threads) {
      if (thread.state !== 'idle') continue
      const runs = (code: string) => threads.filter(({ running }) => running?.call.code === code).length
      const waiting = this.#queue.take((code) => runs(code) < this.#most - 1)
      if (!waiting) break
      this.#run(thread, waiting)
    }
    const soon = threads.filter(({ state }) => state === 'starting' || state === 'clearing').length
    if (this.#queue.length > soon && threads.length < this.#most) this.#start()
  }

  #run(thread: Thread, waiting: WaitingCall): void {
    const { timeout } = waiting.call
    thread.state = 'running'
    thread.running = waiting
    thread.timer = setTimeout(() => this.#replace(thread, { kind: 'late' }), 2 * timeout + GRACE)
    thread.worker.ref()
    thread.worker.postMessage(waiting.call)
  }

  #settle(thread: Thread, outcome: CodeOutcome): void {
    const { running } = thread
    thread.state = 'clearing'
    thread.running = undefined
    running?.settle(outcome)
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
    if (thread.state === 'starting') this.#queue.take(() => true)?.settle(outcome)
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
    const thread: Thread = { worker, state: 'starting', running: undefined }
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
