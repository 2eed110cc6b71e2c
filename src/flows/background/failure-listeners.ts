/** Which flows are told of a failure, and the job that tells one of them. */

import { hash } from 'node:crypto'
import type { Failure, FailureEvent, ReportedFailure } from '../../shared/failure.ts'
import { isFailureEvent } from '../../shared/failure.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { eventWords } from '../../shared/names/event-words.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import { failureQueue, type JobRetries, type NewJob } from '../../storage/job.ts'
import type { LiveBlueprints, LiveTable } from '../live/live-blueprints.ts'
import { originPayload } from '../run/job-payload.ts'

/** A trigger of the kind `failure`. The same object until what is active changes. */
export interface FailureListener {
  readonly blueprint: string
  readonly block: string
  readonly title: string
  readonly events: ReadonlySet<FailureEvent>
  /** Hears of all blueprints. */
  readonly cluster: boolean
  readonly retries?: JobRetries | undefined
}

/** Characters of a message: the rest is in the log. */
const LONGEST_MESSAGE = 2_000

export interface FailureListeners {
  of(failure: Pick<Failure, 'event' | 'blueprint'>): readonly FailureListener[]
  close(): void
}

export function failureListeners(live: Pick<LiveBlueprints, 'watch'>): FailureListeners {
  let listeners: readonly FailureListener[] = []
  const close = live.watch((table) => {
    listeners = listenersIn(table)
  })
  return {
    of: ({ event, blueprint }) =>
      listeners.length === 0
        ? listeners
        : listeners.filter((one) => one.events.has(event) && (one.cluster || one.blueprint === blueprint)),
    close,
  }
}

function listenersIn({ blueprints }: LiveTable): readonly FailureListener[] {
  return [...blueprints].flatMap(([blueprint, { compiled, name }]) =>
    compiled.failureEvents.map(({ block, listening: { events, cluster, retries } }) => ({
      ...{ blueprint, block, title: name, events: new Set(events), cluster, retries },
    })),
  )
}

/** What makes two failures one kind, for one listener. */
export function kindOf(
  listener: FailureListener,
  { event, blueprint, trigger, block, code }: Failure,
): string {
  return `${listener.blueprint} ${listener.block} ${event} ${blueprint} ${trigger} ${block} ${code}`
}

/**
 * The job that tells a listener, once for each kind: while one waits or runs, no second one is made. What it causes is marked, so
 * that its own failures start no flow.
 */
export function failureJob(listener: FailureListener, failure: ReportedFailure): NewJob {
  const { event, name, message } = failure
  const reported = {
    ...failure,
    message: message.slice(0, LONGEST_MESSAGE).toWellFormed().replaceAll('\0', '\ufffd'),
  }
  return {
    queue: failureQueue,
    kind: 'failure',
    ...listener.retries,
    title: `${name || 'The cluster'}: ${eventWords(event)}, for ${listener.title}`,
    payload: {
      ...{ blueprint: listener.blueprint, block: listener.block, failure: reported },
      ...originPayload({ afterFailure: true }),
    },
    dedupeKey: `failure ${hash('sha256', kindOf(listener, failure), 'hex')}`,
  }
}

/** What {@link failureJob} wrote. */
export function failureIn(payload: JsonObject): ReportedFailure | undefined {
  const { failure } = payload
  if (!isJsonObject(failure) || !isFailureEvent(failure.event)) return undefined
  const { event } = failure
  const text = (field: string) => textIn(failure[field])
  return {
    event,
    ...{
      blueprint: text('blueprint'),
      name: text('name'),
      block: text('block'),
      pin: text('pin'),
      trigger: text('trigger'),
    },
    ...{ code: text('code'), message: text('message'), run: text('run'), job: text('job') },
    ...{ time: numberIn(failure.time), since: numberIn(failure.since), count: numberIn(failure.count) },
  }
}
