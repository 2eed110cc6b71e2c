/**
 * One reading process, as the writer, its parent, sees it.
 *
 * Modes
 * - opening: forked; it opens the database and reads what it keeps in memory. It is told of changes in the order in which
 *   they were committed, and no change waits for it.
 * - following: it said `ready`. From now on each change waits for it. Earlier changes may still be on their way to it, so
 *   it is sent an empty change; when it has applied that one, it has applied all before it, and it is told to listen.
 * - serving: it answers requests.
 * - gone: the operating system says that the process has ended. Only this ends the waiting for it: a closed channel, or
 *   silence, proves nothing.
 *
 * The writer kills the process when it does not apply a change in time, and when its channel closes. It is a child of the
 * writer, so once it is gone it certainly serves no old data.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Metric } from '../http/metrics/prometheus-text.ts'
import { nextMode, type Transitions } from '../shared/state-machine.ts'
import type { CollectedMetrics, FromReader, Opening, ToReader } from './worker-messages.ts'

/** It finds there what this process compiled. */
const compileCache = new URL('../../bin/compile-cache.mjs', import.meta.url).href

export interface Listening {
  readonly host: string
  readonly port: number
}

export interface ChildReaderOptions {
  readonly program: URL
  readonly opening: Opening
  readonly listening: Listening
  /** Milliseconds that a change may take. */
  readonly patience: number
  /** Whatever is no answer. */
  readonly heard: (message: FromReader) => void
}

export type ReaderMode = 'opening' | 'following' | 'serving' | 'gone'

export const readerTransitions: Transitions<ReaderMode> = {
  opening: ['following', 'gone'],
  following: ['serving', 'gone'],
  serving: ['gone'],
  gone: [],
}

export class ChildReader {
  /** Unix seconds. */
  readonly started: number
  readonly guid: string
  /** Resolves when it serves, or is gone. */
  readonly settled: Promise<void>
  readonly gone: Promise<void>
  #mode: ReaderMode = 'opening'
  /** Why it ended, as far as it could say. */
  #reason = 'it was killed'
  #load = 0
  #seen: number
  #number = 0
  readonly #options: ChildReaderOptions
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, () => void>()
  readonly #collecting = new Map<number, (metrics: readonly Metric[]) => void>()
  readonly #settle: () => void
  readonly #end: () => void

  constructor(options: ChildReaderOptions, now: number) {
    this.#options = options
    this.guid = options.opening.guid
    this.started = Math.floor(now / 1000)
    this.#seen = this.started
    const settled = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    this.settled = settled.promise
    this.gone = gone.promise
    this.#settle = settled.resolve
    this.#end = gone.resolve
    // Its own settings arrive by message. Flags of this process, such as a debugger's port, are not for it.
    this.#child = fork(fileURLToPath(options.program), [], { execArgv: ['--import', compileCache] })
    this.#child.on('message', (message) => this.#hearOrKill(message as FromReader))
    this.#child.on('disconnect', () => this.kill())
    this.#child.on('exit', (code, signal) => this.#ended(code === null ? `signal ${signal}` : `code ${code}`))
    // It could not be started at all; after a start only `exit` counts.
    this.#child.on('error', () => this.#child.pid === undefined && this.#ended('it could not be started'))
    this.#send({ kind: 'open', opening: options.opening })
  }

  get mode(): ReaderMode {
    return this.#mode
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get reason(): string {
    return this.#reason
  }

  get load(): number {
    return this.#load
  }

  /** Unix seconds. */
  get seen(): number {
    return this.#seen
  }

  /** Resolves when the reader has applied the change, or is gone; undefined when the writer need not wait for it. */
  tell(topic: string, messages: readonly string[] | null): Promise<void> | undefined {
    if (this.#mode === 'gone') return undefined
    const number = ++this.#number
    this.#send({ kind: 'change', number, topic, messages })
    if (this.#mode === 'opening') return undefined
    return new Promise((resolve) => {
      const late = setTimeout(() => this.kill(), this.#options.patience)
      this.#waiting.set(number, () => {
        clearTimeout(late)
        resolve()
      })
    })
  }

  /** What it counted; nothing if it does not say in time. */
  collect(of: CollectedMetrics, milliseconds: number): Promise<readonly Metric[]> {
    if (this.#mode !== 'serving') return Promise.resolve([])
    const number = ++this.#number
    this.#send({ kind: 'collect', number, of })
    return new Promise((resolve) => {
      const done = (metrics: readonly Metric[]) => {
        clearTimeout(late)
        this.#collecting.delete(number)
        resolve(metrics)
      }
      const late = setTimeout(() => done([]), milliseconds)
      this.#collecting.set(number, done)
    })
  }

  /** Lets requests in flight finish. Resolves when the process has ended, which is after so many milliseconds at the latest. */
  async stop(milliseconds: number): Promise<void> {
    this.#send({ kind: 'stop' })
    const late = setTimeout(() => this.kill(), milliseconds)
    await this.gone
    clearTimeout(late)
  }

  kill(): void {
    if (this.#mode !== 'gone') this.#child.kill('SIGKILL')
  }

  #send(message: ToReader): void {
    // What cannot be sent is not missed: the process is ending, or is killed when the channel is found closed.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** The only place where the mode changes. */
  #to(mode: ReaderMode): void {
    this.#mode = nextMode('The reading process', readerTransitions, this.#mode, mode)
  }

  /** A process that says what it cannot be yet, or is already, is wrong and has to go. */
  #hearOrKill(message: FromReader): void {
    const isLate = this.#mode === 'gone' && (message.kind === 'ready' || message.kind === 'listening')
    if (isLate) return
    try {
      this.#hear(message)
    } catch (error) {
      this.#reason = error instanceof Error ? error.message : String(error)
      this.kill()
    }
  }

  #hear(message: FromReader): void {
    switch (message.kind) {
      case 'ready':
        this.#to('following')
        this.tell('', [])?.then(() => {
          if (this.#mode === 'following') this.#send({ kind: 'listen', ...this.#options.listening })
        })
        return
      case 'listening':
        this.#to('serving')
        this.#settle()
        return
      case 'applied': {
        const applied = this.#waiting.get(message.number)
        this.#waiting.delete(message.number)
        applied?.()
        return
      }
      case 'metrics':
        this.#collecting.get(message.number)?.(message.metrics)
        return
      case 'load':
        this.#load = message.load
        this.#seen = Math.floor(Date.now() / 1000)
        return
      case 'failed':
        this.#reason = message.message
        return
      default:
        this.#options.heard(message)
    }
  }

  #ended(how: string): void {
    if (this.#mode === 'gone') return
    this.#to('gone')
    if (this.#reason === 'it was killed') this.#reason = how
    for (const done of this.#waiting.values()) done()
    this.#waiting.clear()
    for (const done of [...this.#collecting.values()]) done([])
    this.#settle()
    this.#end()
  }
}
