/**
 * Searches that look at much, in a thread with a connection of its own: `node:sqlite` answers in one turn of the event loop,
 * and 11,000 documents compared with eight misspelled words take a second, in which this process would serve nothing else.
 *
 * The thread starts with the first such search (80 ms) and takes one task at a time. What it reads is committed, and not
 * older than the question.
 */
import { Worker } from 'node:worker_threads'
import { QuoinError } from '../../../shared/errors.ts'
import type { Query } from '../../../shared/query.ts'
import { textsOf } from '../../search/check-search.ts'
import { DamagedDatabase } from '../core/sqlite-errors.ts'
import type {
  AggregatedAside,
  CountedAside,
  FoundAside,
  SearchAnswer,
  SearchTask,
} from './search-thread-task.ts'

/** Searches that wait, at up to 3 s each; of searches without free text, which mostly take a tenth of that, more. */
const MOST_WAITING = 16
const MOST_PASSING = 64
/** Words to be read for the memory of this process wait behind all searches. */
const MOST_READINGS = 32

type Task<Kind extends SearchTask['kind']> = Omit<Extract<SearchTask, { kind: Kind }>, 'kind'>

interface Waiting {
  readonly task: SearchTask
  readonly resolve: (answer: SearchAnswer) => void
  readonly reject: (error: unknown) => void
}

export class SearchThread {
  readonly #path: string
  readonly #damaged: (error: DamagedDatabase) => void
  #worker: Worker | undefined
  #running: Waiting | undefined
  readonly #searches: Waiting[] = []
  readonly #readings: Waiting[] = []
  #ended: Promise<unknown> | undefined

  /** `damaged`: told when the thread has met damage in the file. */
  constructor(path: string, damaged: (error: DamagedDatabase) => void = () => undefined) {
    this.#path = path
    this.#damaged = damaged
  }

  /** Throws UNAVAILABLE, also for a search that looks at too much, and what `findDocuments` throws. */
  async find(task: Task<'find'>): Promise<FoundAside> {
    const answer = await this.#ask(this.#searches, mostWaiting(task.search.query), { kind: 'find', ...task })
    return answer.kind === 'found' ? answer : mismatch(answer)
  }

  async count(task: Task<'count'>): Promise<CountedAside> {
    const answer = await this.#ask(this.#searches, mostWaiting(task.query), { kind: 'count', ...task })
    return answer.kind === 'counted' ? answer : mismatch(answer)
  }

  async aggregate(task: Task<'aggregate'>): Promise<AggregatedAside> {
    const answer = await this.#ask(this.#searches, MOST_WAITING, { kind: 'aggregate', ...task })
    return answer.kind === 'aggregated' ? answer : mismatch(answer)
  }

  async places(task: Task<'places'>): Promise<Extract<SearchAnswer, { kind: 'places' }>> {
    const answer = await this.#ask(this.#readings, MOST_READINGS, { kind: 'places', ...task })
    return answer.kind === 'places' ? answer : mismatch(answer)
  }

  async similar(task: Task<'similar'>): Promise<readonly string[]> {
    const answer = await this.#ask(this.#readings, MOST_READINGS, { kind: 'similar', ...task })
    return answer.kind === 'similar' ? answer.words : mismatch(answer)
  }

  /** Waits for the task that is running; those behind it are refused. */
  async close(): Promise<void> {
    if (this.#ended) {
      await this.#ended
      return
    }
    const worker = this.#worker
    this.#ended = worker ? new Promise((resolve) => worker.once('exit', resolve)) : Promise.resolve()
    const closing = new QuoinError('UNAVAILABLE', 'The storage is being closed.')
    for (const waiting of [...this.#searches.splice(0), ...this.#readings.splice(0)]) waiting.reject(closing)
    worker?.ref()
    worker?.postMessage('close')
    await this.#ended
  }

  #ask(queue: Waiting[], most: number, task: SearchTask): Promise<SearchAnswer> {
    if (this.#ended) throw new QuoinError('UNAVAILABLE', 'The storage is being closed.')
    if (queue.length >= most)
      throw new QuoinError('UNAVAILABLE', 'Too many slow searches are waiting. Try again in a few seconds.', {
        retryAfter: 3,
      })
    return new Promise((resolve, reject) => {
      queue.push({ task, resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#running) return
    this.#running = this.#searches.shift() ?? this.#readings.shift()
    if (this.#running === undefined) {
      // An idle thread keeps no process from ending.
      this.#worker?.unref()
      return
    }
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(this.#running.task)
  }

  #start(): Worker {
    const worker = new Worker(new URL('./search-thread-program.ts', import.meta.url), {
      workerData: { path: this.#path },
    })
    const over = (error: unknown) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      const running = this.#running
      this.#running = undefined
      running?.reject(
        new QuoinError('UNAVAILABLE', 'The search was interrupted. Try again.', { cause: error }),
      )
      this.#next()
    }
    worker.on('message', (answer: SearchAnswer) => {
      const running = this.#running
      this.#running = undefined
      if (answer.kind === 'damaged') {
        const error = new DamagedDatabase(new Error(answer.message))
        this.#damaged(error)
        running?.reject(error)
      } else running?.resolve(answer)
      this.#next()
    })
    worker.on('error', over)
    worker.on('exit', over)
    return worker
  }
}

function mostWaiting(query: Query): number {
  return textsOf(query).length > 0 ? MOST_WAITING : MOST_PASSING
}

function mismatch(answer: SearchAnswer): never {
  if (answer.kind === 'refused') throw new QuoinError(answer.code, answer.message)
  throw new Error(answer.kind === 'failed' ? answer.message : `The search thread answered ${answer.kind}.`)
}
