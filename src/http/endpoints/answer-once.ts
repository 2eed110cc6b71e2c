/** Requests that run their flow once, by the header `idempotency-key` or by the key that the trigger calculates. */
import { FileBody, type Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { CompiledFlow } from '../../flows/compile/frame.ts'
import type { RunEnd, RunFlow, RunStart } from '../../flows/run/run-start.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'
import type { Idempotency, IdempotencyKey, StoredReply } from './endpoint-idempotency.ts'
import type { FoundEndpoint } from './endpoint-table.ts'
import { type SendingServices, sendEnd, sendReply } from './request-and-reply.ts'

interface OnceServices extends SendingServices {
  readonly runs: Pick<Runs, 'run' | 'evaluate' | 'rehearse'>
  readonly idempotency: Idempotency
}

/** What a request gets whose flow ends without a reply block. */
const NO_REPLY: Reply = { code: 204, value: undefined, headers: {} }

/** A request that is about to be answered. */
interface Asked {
  readonly found: FoundEndpoint
  readonly input: RunRequest
  readonly start: RunStart
  readonly exchange: EndpointExchange
  readonly over: (end: RunEnd) => void
}

/** Runs a flow, with the files of its request in their places. */
export function runWithUploads(
  run: RunFlow,
  start: RunStart,
  { uploads, identity }: EndpointExchange,
): MaybePromise<RunEnd> {
  if (!uploads) return run(start)
  return uploads.run(run, start, { guid: identity?.guid ?? '', username: identity?.username ?? '' })
}

/** By its header; without one the flow runs each time. */
export function answerOnce(services: OnceServices, asked: Asked): MaybePromise<void> {
  const key = services.idempotency.keyOf(asked.found, asked.input, asked.exchange.uploads?.sent)
  return key
    ? once(services, asked, key)
    : andThen(runWithUploads(services.runs.run, asked.start, asked.exchange), asked.over)
}

/** By the key that the trigger calculates; where that is empty by its header. */
export function answerByKey(services: OnceServices, asked: Asked, flow: CompiledFlow): MaybePromise<void> {
  const { found, input, start, exchange } = asked
  const { blueprint, request } = start
  const evaluated = services.runs.evaluate({
    flow,
    blueprint,
    input: start.input,
    ...(request && { request }),
  })
  return andThen(evaluated, (end) => {
    // The expression has failed: without its key the flow must not run.
    if (end.error) return sendEnd(exchange, end)
    const text = typeof end.result === 'string' ? end.result.trim() : ''
    if (text !== '')
      return once(
        services,
        asked,
        services.idempotency.calculatedKey(found, input, text, exchange.uploads?.sent),
      )
    return found.endpoint.listening.idempotent
      ? answerOnce(services, asked)
      : andThen(runWithUploads(services.runs.run, start, exchange), asked.over)
  })
}

async function once(
  services: OnceServices,
  { start, exchange, over }: Asked,
  key: IdempotencyKey,
): Promise<void> {
  const { idempotency, runs } = services
  let stored: StoredReply | undefined
  try {
    stored = await idempotency.take(key)
  } catch (error) {
    const refused = await runs.rehearse(start)
    if (!refused) throw error
    over(refused)
    return
  }
  if (stored) {
    // Who does not sign must neither get the reply nor hear that there is one.
    const refused = await runs.rehearse(start)
    if (refused) over(refused)
    else replay(services, exchange, stored)
    return
  }
  try {
    const keeping: RunStart = {
      ...start,
      beforeReply: (session, sent) => idempotency.keep(session, key, sent),
      beforeEnd: (session) => idempotency.keep(session, key, NO_REPLY),
    }
    const end = await runWithUploads(runs.run, keeping, exchange)
    // Another node was faster: its writes and its reply stand, ours were undone.
    // It got as far as storing it, so it has passed the checks.
    const other = end.error?.code === 'CONFLICT' ? await idempotency.find(key) : undefined
    if (other) replay(services, exchange, other)
    else over(end)
  } finally {
    idempotency.release(key)
  }
}

function replay(services: OnceServices, exchange: EndpointExchange, stored: StoredReply): void {
  const { code, text, file } = stored
  const headers = { ...stored.headers, 'idempotent-replay': 'true' }
  if (file) sendReply(exchange, { code, value: new FileBody(file), headers }, services)
  else exchange.send({ status: code, headers, text })
}
